/** Telling clients to leave before a server closes, where that closes connections with a request on its way. */

import { setTimeout as passed } from 'node:timers/promises'

/** `begin` resolves after `leaveMs`, in which clients may send one more request: `last` tells them that it is the last. */
export function leaving(): {
  last(response: Response): Response
  begin(leaveMs: number): Promise<void>
} {
  let begun = false
  return {
    last(response) {
      if (!begun) return response
      // A copy, because the headers of a response may be immutable.
      const last = new Response(response.body, response)
      last.headers.set('Connection', 'close')
      return last
    },
    async begin(leaveMs) {
      begun = true
      await passed(leaveMs)
      // A late timer runs before data that has arrived meanwhile is read.
      await passed(0)
    },
  }
}

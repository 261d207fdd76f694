/** How responses leave where the runtime sends them: together, and told to be the last before a server closes. */

// Not the global one, which tests of users replace by one that stands still.
import { setImmediate } from 'node:timers'
import { setTimeout as passed } from 'node:timers/promises'

/**
 * `sent` resolves to a response at the end of the turn of the event loop: a client that the first response wakes finds the
 * others too, and waking it takes longer than the rest of a short one. While each turn has one response, it leaves at once:
 * Bun (1.4) forgets a connection whose client has sent its next requests and reads late, if the response waited.
 * `begin` resolves after `leaveMs`, in which clients may send one more request: from then on, `sent` tells them that it is the last.
 */
export function leaving(): {
  sent(response: Response): Promise<Response>
  begin(leaveMs: number): Promise<void>
} {
  let begun = false
  let turn: PromiseWithResolvers<void> | undefined
  let [before, now] = [0, 0]
  const end = () => {
    turn?.resolve()
    turn = undefined
    before = now
    now = 0
  }
  return {
    async sent(response) {
      if (now === 0) setImmediate(end)
      now += 1
      if (before > 1) {
        turn ??= Promise.withResolvers()
        await turn.promise
      }
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

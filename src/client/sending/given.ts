/** What calls whose code is loaded when it is used are given of what the client has loaded already. */

import type { Call } from './connection.ts'
import type { Sending } from './sending.ts'

export interface Given
  extends Pick<typeof import('./answers.ts'), 'answer' | 'json' | 'resultOf'>,
    Pick<typeof import('./paths.ts'), 'checkPath' | 'inPath'> {
  /** What sends the requests, in the session that the call was made in. */
  readonly call: Call
  readonly send: Sending
  bodyOf(values: Readonly<Record<string, unknown>>): Promise<string | FormData>
}

/** What `onLogin` and a sign-in tell each other about a second step. */

import { HttpError } from '../../http/errors.ts'
import type { Fields } from '../../ports/store.ts'

/**
 * Throw it in `onLogin` if the sign-in needs a second step. The client gets a 401 with `message`, a `ticket` and
 * `expiresIn` (seconds), and sends `POST /login` with the ticket and what the second step asks for. `onLogin` then
 * runs again with that body as `step.answer`.
 */
export class SecondStepRequired extends HttpError {
  override readonly name: string = 'SecondStepRequired'

  constructor(message = 'A second step is needed to sign in.') {
    super(401, message, { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
}

/** The step of a sign-in in which `onLogin` runs. */
export interface SignInStep {
  /** The body of the request that brought the ticket back; undefined in the first step. */
  readonly answer?: Fields
}

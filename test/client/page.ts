/**
 * The page whose tabs share a session: it exposes a client to the test that drives it.
 *
 * @module
 */

import { createClient } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'

/** What the test finds on a page. */
export interface Exposed {
  readonly api: ReturnType<typeof createClient<TestApp>>
  /** How often `onSignedOut` ran. */
  signedOut: number
  /** Statuses of `me`: 200, or that of the failure. */
  me(): Promise<number>
}

const api = createClient<TestApp>(location.origin, {
  onSignedOut() {
    exposed.signedOut += 1
  },
})
const exposed: Exposed = {
  api,
  signedOut: 0,
  async me() {
    const me = await api('/auth').me()
    return me.ok ? 200 : me.error.status
  },
}
Object.assign(globalThis, { exposed })

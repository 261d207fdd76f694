/**
 * A client whose requests are recorded, and answered as a test says.
 *
 * @module
 */

import { createClient } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'
import { ScriptedStorage } from './scripted.ts'

export const URL = 'https://api.example.com'

/** What a client has sent. */
export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
}
type Reply = (sent: Sent) => Response | undefined

/** A client whose requests are recorded; `reply` answers, or a success without records. */
export function recording(reply: Reply = () => undefined, more: object = {}) {
  const sent: Sent[] = []
  const api = createClient<TestApp>(URL, {
    storage: new ScriptedStorage(),
    fetch: async (input, init = {}) => {
      const { method = 'GET', body } = init
      const one = {
        method,
        url: String(input).slice(URL.length),
        headers: new Headers(init.headers),
      }
      sent.push({ ...one, body: typeof body === 'string' ? JSON.parse(body) : body })
      return reply(sent.at(-1) as Sent) ?? Response.json({ success: true, data: [] })
    },
    ...more,
  })
  return { api, sent }
}
/** The calls of a client, for what its types refuse. */
export const calls = (api: unknown) =>
  api as (
    mount: string,
    params?: object,
  ) => Record<string, (...given: unknown[]) => Promise<unknown>>
/** The methods of requests. */
export const methods = (sent: readonly Sent[]) => sent.map(({ method }) => method)

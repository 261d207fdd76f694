/** What the connection takes of the parts that are loaded when they are used. */

import type { Answer } from './answers.ts'
import type { tagOf } from './if-match.ts'
import type { uploaded } from './upload.ts'

/** Loads the parts of the client that not every page needs. Rejects with a `ClientError` if they cannot be loaded. */
export type Load = () => Promise<{
  readonly responseOf: typeof responseOf
  readonly tagOf: typeof tagOf
  readonly timeout: typeof timeout
  readonly uploaded: typeof uploaded
}>

/** `AbortSignal.timeout`, where there is none. */
export function timeout(ms: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), ms)
  return controller.signal
}

/** A refresh that gave no tokens, as what `fetch` comes to. */
export function responseOf({ status, text, headers }: Answer): Response {
  if (status === 0) throw new TypeError(text)
  return new Response(text || null, { status, headers: headers as Headers })
}

/**
 * Responses on runtimes whose own are cheap.
 *
 * @module
 */

import type { PipedBody } from '../../../src/ports/services/piped-body.ts'

// biome-ignore lint/performance/noBarrelFile: '#response' is one of these two modules
export { sendsCodings, UNDONE } from './codings.ts'

export const Response: typeof globalThis.Response = globalThis.Response

export function bodyOf(body: PipedBody): BodyInit {
  return body.stream()
}

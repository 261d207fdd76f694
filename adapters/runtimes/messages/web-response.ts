/**
 * Responses on runtimes whose own are cheap.
 *
 * @module
 */

import type { PipedBody } from '../../../src/ports/services/piped-body.ts'
import { isInNext } from './in-next.ts'

/** Whether clients get contents with the name of their coding. */
export const sendsCodings: boolean = !isInNext

/** The runtime's own class. */
export const Response: typeof globalThis.Response = globalThis.Response

/** The body as a stream. */
export function bodyOf(body: PipedBody): BodyInit {
  return body.stream()
}

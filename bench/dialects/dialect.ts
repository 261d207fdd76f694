/**
 * The words of a server that has a contract of its own.
 *
 * @module
 */

import type { Requests } from '../load.ts'

/** Turns requests and answers into those of a server, and back. */
export interface Dialect {
  /** The same requests, as the server wants them. */
  asked(requests: Requests): Requests
  /** Its answer to one of those paths in fieldgate's envelope; a list that was not counted has no pagination. */
  answer(text: string, headers: Headers, path: string): string
}

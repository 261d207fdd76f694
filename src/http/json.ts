/**
 * JSON from bytes that a client sent.
 *
 * @module
 */

import { parseInSlices } from '../ports/json.ts'
import { type Bounds, TooManyKeys } from '../ports/json-pieces.ts'
import { invalidJson, tooManyKeys } from './refusals.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * How deep lists and objects may nest. Any recursive walk of a value, `JSON.stringify` included, overflows the
 * stack at some thousand levels, and not every runtime lets that be caught.
 */
const MAX_NESTING = 1000

/** The most keys of one object: runtimes and schemas take ever longer for each of them. */
const MAX_KEYS = 10_000

/**
 * The value. Throws a 400 for anything that is not JSON in UTF-8, that nests deeper than 1,000 levels or that has an object of
 * more than 10,000 keys; a byte order mark is skipped. A long text is parsed in slices, each of about `piece` characters.
 */
export async function parseJson(bytes: Uint8Array, piece?: number): Promise<unknown> {
  const bounds: Partial<Bounds> = { keys: MAX_KEYS, ...(piece !== undefined && { piece }) }
  try {
    const text = utf8.decode(bytes)
    // Each level takes two characters, so ordinary bodies need no look.
    const isShort = text.length <= 2 * MAX_NESTING
    return await parseInSlices(text, isShort ? bounds : { ...bounds, nesting: MAX_NESTING })
  } catch (error) {
    throw error instanceof TooManyKeys ? tooManyKeys(MAX_KEYS) : invalidJson()
  }
}

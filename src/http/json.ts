/**
 * Parses JSON bytes that a client sent.
 *
 * @module
 */

import { parseInSlices } from '../ports/json.ts'
import { type Bounds, TooManyKeys } from '../ports/json-pieces.ts'
import { invalidJson, tooManyKeys } from './refusals.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * How deeply lists and objects may nest. Any recursive walk of a value, `JSON.stringify` included, overflows the stack
 * at some thousands of levels, and not every runtime lets you catch that.
 */
const MAX_NESTING = 1000

/** The most keys of one object: for runtimes and schemas, each further key costs more than the last. */
export const MAX_KEYS = 10_000

/**
 * The parsed value. Throws a 400 for anything that is not JSON in UTF-8, nests deeper than 1,000 levels, or has an
 * object with more than 10,000 keys. A byte order mark is skipped. Long JSON is parsed in slices of about `piece`
 * characters.
 */
export async function parseJson(bytes: Uint8Array, piece?: number): Promise<unknown> {
  const bounds: Partial<Bounds> = { keys: MAX_KEYS, ...(piece !== undefined && { piece }) }
  try {
    const text = utf8.decode(bytes)
    // Each level takes two characters, so ordinary bodies need no check.
    const isShort = text.length <= 2 * MAX_NESTING
    return await parseInSlices(text, isShort ? bounds : { ...bounds, nesting: MAX_NESTING })
  } catch (error) {
    throw error instanceof TooManyKeys ? tooManyKeys(MAX_KEYS) : invalidJson()
  }
}

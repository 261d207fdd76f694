/**
 * JSON from bytes that a client sent.
 *
 * @module
 */

import { invalidJson } from './refusals.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * How deep lists and objects may nest. Any recursive walk of a value, `JSON.stringify` included, overflows the
 * stack at some thousand levels, and not every runtime lets that be caught.
 */
const MAX_NESTING = 1000

const QUOTE = 2

/** What a byte does to the depth: a bracket opens or closes a level, a quote begins a text. */
const STEPS: Int8Array = new Int8Array(256)
for (const opening of '[{') STEPS[opening.charCodeAt(0)] = 1
for (const closing of ']}') STEPS[closing.charCodeAt(0)] = -1
STEPS['"'.charCodeAt(0)] = QUOTE

/** The value. Throws a 400 for anything that is not JSON in UTF-8; a byte order mark is skipped. */
export function parseJson(bytes: Uint8Array): unknown {
  if (nestsTooDeep(bytes)) throw invalidJson()
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw invalidJson()
  }
}

/** Exact for valid JSON, which is all that matters: the rest is refused anyway. */
function nestsTooDeep(bytes: Uint8Array): boolean {
  // Each level takes two bytes, so ordinary bodies need no look.
  if (bytes.length <= 2 * MAX_NESTING) return false
  let depth = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const step = STEPS[bytes[at] as number] as number
    if (step === 0) continue
    if (step === QUOTE) at = endOfText(bytes, at)
    else depth += step
    if (depth > MAX_NESTING) return true
  }
  return false
}

function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1
  return at
}

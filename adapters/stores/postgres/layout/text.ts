/**
 * Strings as PostgreSQL can hold them: it has no NUL.
 *
 * @module
 */

import { setMember } from '../../../../src/ports/members.ts'

const SPECIAL = /[\0\u0001]/g
const ESCAPED = /\u0001[\u0001\u0002]/g

/**
 * `text` as it is stored: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002. Every other string stays as
 * it is, and the order by code point stays the same.
 */
export function stored(text: string): string {
  if (!hasSpecial(text)) return text
  return text.replace(SPECIAL, (char) => (char === '\0' ? '\u0001\u0001' : '\u0001\u0002'))
}

/** The string that is stored as `text`. */
export function restored(text: string): string {
  if (!text.includes('\u0001')) return text
  return text.replace(ESCAPED, (pair) => (pair === '\u0001\u0001' ? '\0' : '\u0001'))
}

function hasSpecial(text: string): boolean {
  return text.includes('\0') || text.includes('\u0001')
}

/** The JSON of `value` as it is stored. */
export function storedJson(value: unknown): string {
  return inStoredJson(JSON.stringify(value) ?? 'null', () => value)
}

/** `json` as it is stored; `value` returns what it holds. */
export function inStoredJson(json: string, value: () => unknown): string {
  return /\\u000[01]/.test(json) ? JSON.stringify(eachString(toPlain(value()), stored)) : json
}

/** The value of stored JSON. Modifies `value`, which must be the caller's own. */
export function restoredValue(json: string, value: unknown): unknown {
  return json.includes('\\u0001') ? eachString(value, restored) : value
}

/** Dates as their strings, as `JSON.stringify` writes them. */
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** `value` with every string and key changed. */
function eachString(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((element) => eachString(element, change))
  const changed: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    setMember(changed, change(key), eachString(member, change))
  }
  return changed
}

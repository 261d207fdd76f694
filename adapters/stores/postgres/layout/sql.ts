/** SQL, built safely: names are quoted, values are bound, and strings are as PostgreSQL can hold them, which has no NUL. */

import type { SortKey } from '../../../../src/ports/store/filter.ts'
import { setMember } from '../../../../src/ports/values/members.ts'

/** A statement with the values of its numbered parameters, all of them as text. */
export interface Statement {
  readonly sql: string
  readonly values: readonly string[]
  /** Whether it reads as much as there is, such as a list, a count or a search: of these, not all run at once. */
  readonly isLong?: boolean
}

export interface Endable extends Statement {
  /** Called when it is sent, with what ends it. */
  sent?(end: () => void): void
}

export class Parameters {
  readonly #values: string[] = []

  /** `text` as a parameter of an SQL type. The cast of text leaves nothing for the driver to guess. */
  bind(text: string, type = 'text'): string {
    const number = this.#values.push(text)
    return type === 'text' ? `$${number}::text` : `$${number}::text::${type}`
  }

  integer(number: number): string {
    return this.bind(String(number), 'bigint')
  }

  json(value: unknown): string {
    return this.bind(inStoredJson(JSON.stringify(value) ?? 'null'), 'jsonb')
  }

  statement(sql: string): Statement {
    return { sql, values: this.#values }
  }
}

/** PostgreSQL cuts longer names without an error, so that two of them could become one. */
const MAX_BYTES = 63

/** `name` as an identifier. Throws a `TypeError` for one that PostgreSQL cannot hold. */
export function identifier(name: string): string {
  if (name === '' || name.includes('\0') || Buffer.byteLength(name) > MAX_BYTES) {
    throw new TypeError(
      `${JSON.stringify(name)} cannot be the name of a table or column: PostgreSQL's names have 1 to ${MAX_BYTES} bytes`,
    )
  }
  return `"${name.replaceAll('"', '""')}"`
}

/** `name` as the name of an index, a constraint or a column; a long one is cut and ends with a checksum. */
export function shortName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_BYTES) return name
  const end = `_${checksum(name)}`
  const characters = Array.from(name)
  while (Buffer.byteLength(characters.join('')) > MAX_BYTES - end.length) characters.pop()
  return characters.join('') + end
}

/** A few letters and digits that tell names apart. */
export function checksum(name: string): string {
  let sum = 0
  for (const char of name) sum = (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) >>> 0
  return sum.toString(36)
}

/** `text` as a string literal; only for names that the model declares. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A list of strings as the text of an SQL array. */
export function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

export function primaryKeyName(table: string): string {
  return shortName(`${table}_pkey`)
}

/** The names of the constraints of a table's unique sets. Errors contain them, so they tell which fields clash. */
export function uniqueNames(table: string, sets: readonly (readonly string[])[]): string[] {
  const names = sets.map((fields) => `${table}_unique_${fields.join('_and_')}`)
  return distinct(names, sets)
}

export function orderNames(table: string, orders: readonly (readonly SortKey[])[]): string[] {
  const names = orders.map((keys) => {
    const words = keys.map(({ field, descending }) => (descending ? `${field}_desc` : field))
    return `${table}_order_${words.join('_and_')}`
  })
  const things = orders.map((keys) => keys.map(({ field, descending }) => [field, descending]))
  return distinct(names, things)
}

/**
 * `names` of different `things`. If fields have names like `a_and_b`, several may be the same: all of these end with a
 * checksum, because the index that already has the name may be of any of them.
 */
function distinct(names: readonly string[], things: readonly unknown[]): string[] {
  const texts = things.map((thing) => JSON.stringify(thing))
  return names.map((name, at) => {
    const text = texts[at] ?? ''
    const isShared = names.some((other, index) => other === name && texts[index] !== text)
    return shortName(isShared ? `${name}_${checksum(text)}` : name)
  })
}

const SPECIAL = /[\0\u0001]/g
const ESCAPED = /\u0001[\u0001\u0002]/g

/**
 * `text` as it is stored: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002. Every other string stays as
 * it is, and the order by code point stays the same.
 */
export function stored(text: string): string {
  if (!(text.includes('\0') || text.includes('\u0001'))) return text
  return text.replace(SPECIAL, (char) => (char === '\0' ? '\u0001\u0001' : '\u0001\u0002'))
}

export function restored(text: string): string {
  if (!text.includes('\u0001')) return text
  return text.replace(ESCAPED, (pair) => (pair === '\u0001\u0001' ? '\0' : '\u0001'))
}

export function inStoredJson(json: string): string {
  return /\\u000[01]/.test(json) ? JSON.stringify(eachString(JSON.parse(json), stored)) : json
}

/** The value of stored JSON. Modifies `value`, which must be the caller's own. */
export function restoredValue(json: string, value: unknown): unknown {
  return json.includes('\\u0001') ? eachString(value, restored) : value
}

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

/** Start-up checks of a model's options and field names. (Checks of single paths are elsewhere.) */

import type { Fields } from '../ports/store/records.ts'
import type { Convert } from './model.ts'
import * as rule from './option-rules.ts'
import { type Fail, isFunction, isNames, type Rule } from './option-rules.ts'
import { isFields, isForbiddenKey } from './writable.ts'

const fieldSets: Rule = {
  must: 'be a list of field names, or of lists of them, which name each once',
  // Databases differ in what they make of an index of nothing, or of a field twice.
  test: (value) =>
    Array.isArray(value) &&
    value.every(
      (set) => typeof set === 'string' || (isNames(set) && new Set(set).size === (set.length || 1)),
    ),
}

/** What the options of a model must be. */
export const MODEL_RULES: Readonly<Record<string, Rule>> = {
  fields: {
    must: 'be an object of zod schemas',
    test: (value) => typeof value === 'object' && value !== null,
  },
  timestamps: {
    must: "be true or false, or an object of names: { createdAt: 'created_at' }",
    test: (value) =>
      typeof value === 'boolean' || isObjectOf(value, ['createdAt', 'updatedAt'], isTime),
  },
  unique: fieldSets,
  indexes: fieldSets,
  transitions: {
    must: "be an object of fields, each from a value to those that it may become: { status: { open: ['done'] } }",
    test: (value) =>
      isFields(value) && Object.values(value).every((one) => isFields(one) && areLists(one)),
  },
  initial: {
    must: "be an object of fields, each with a list of values: { status: ['open'] }",
    test: (value) => isFields(value) && areLists(value),
  },
  exclude: {
    must: "be a list like [{ equal: ['room'], range: ['from', 'to'], where: { status: ['booked'] } }]",
    test: (value) => Array.isArray(value) && value.every(isExclusion),
  },
  changes: {
    must: "be true, false, or { keep } with a duration like '7d', '12h' or '90m', or 'forever'",
    test: (value) => typeof value === 'boolean' || isObjectOf(value, ['keep'], isKeep),
  },
  hidden: { must: 'be a list of field names', test: isNames },
  output: {
    must: 'be a function that is not async',
    test: (value) => isFunction(value) && Object(value).constructor.name !== 'AsyncFunction',
  },
  renamed: {
    must: "be an object of names: { old: 'new' }",
    test: (value) => isFields(value) && isNames(Object.values(value)),
  },
  convert: {
    must: 'be an object of functions: { field: (stored) => value }',
    test: (value) =>
      isFields(value) && Object.values(value).every((one) => one === undefined || isFunction(one)),
  },
  collection: {
    must: "be a name that doesn't begin with fieldgate_, sqlite_ or _cf_, which databases and fieldgate keep for themselves",
    test: (value) => isName(value) && !isReserved(value),
  },
  id: rule.oneOf('objectId', 'uuid', 'integer', 'text'),
  table: {
    must: "be a name that doesn't begin with fieldgate_, which fieldgate keeps for itself",
    test: (value) => isName(value) && !/^fieldgate_/i.test(value),
  },
  columns: {
    must: 'be an object of column names',
    test: (value) =>
      isFields(value) && Object.values(value).every((name) => name !== '' && isNames([name])),
  },
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** A hundred years. */
const MAX_KEEP_MS = 36_525 * UNITS_MS.d

/** How long the log keeps changes, in milliseconds. Of other than durations it is NaN. */
export function keepMs(changes: true | { readonly keep?: unknown }): number {
  const { keep = '24h' } = changes === true ? {} : changes
  if (keep === 'forever') return Number.POSITIVE_INFINITY
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(String(keep)) ?? []
  return Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

function isKeep(keep: unknown): boolean {
  if (keep === 'forever') return true
  const ms = typeof keep === 'string' ? keepMs({ keep }) : Number.NaN
  return ms > 0 && ms <= MAX_KEEP_MS
}

/** A string that every database can keep: half of a surrogate pair has no bytes in UTF-8. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed()
}

function isTime(name: unknown): boolean {
  return typeof name === 'boolean' || (typeof name === 'string' && name !== '')
}

/** Whether `value` is an object with no members but `names`, of which those that are there pass `test`. */
export function isObjectOf(
  value: unknown,
  names: readonly string[],
  test: (member: unknown) => boolean,
): value is Fields {
  if (!isFields(value)) return false
  return Object.entries(value).every(
    ([name, member]) => names.includes(name) && (member === undefined || test(member)),
  )
}

/** Whether all values of an object are lists of single values. */
function areLists(value: object): boolean {
  const isSingle = (one: unknown) => typeof one !== 'object' || one instanceof Date
  return Object.values(value).every((list) => Array.isArray(list) && list.every(isSingle))
}

function isExclusion(value: unknown): boolean {
  if (!isFields(value)) return false
  const { equal, range, where = {}, ...others } = value
  const isRange = isNames(range) && range.length === 2
  const isKnown = Object.keys(others).length === 0
  return isKnown && isNames(equal) && isRange && isFields(where) && areLists(where)
}

/** The renames of a model: earlier names, none of them among `names`, each with the one that it is now. */
export function renames(
  given: Readonly<Record<string, string>>,
  names: readonly string[],
  fail: Fail,
): ReadonlyMap<string, string> {
  // Timestamps may have had these names.
  const isTime = (name: string) => ['createdAt', 'updatedAt'].includes(name)
  const others = Object.keys(given).filter((name) => !isTime(name))
  checkStoredNames(others, (message) => fail(`'renamed': ${message}`))
  for (const [old, now] of Object.entries(given)) {
    if (names.includes(old)) {
      fail(`'renamed' names '${old}' as an earlier name, but it is a field. Write { old: 'new' }`)
    }
    if (old.includes('.')) {
      fail(`'renamed' names '${old}': only whole fields can be renamed, not parts of them`)
    }
    if (!names.includes(now)) fail(noField('renamed', now))
  }
  return new Map(Object.entries(given))
}

export function conversions(
  given: Readonly<Record<string, Convert | undefined>>,
  fields: object,
  fail: Fail,
): Readonly<Record<string, Convert>> {
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(fields, field)) fail(noField('convert', field))
  }
  const named = Object.entries(given).filter(([, convert]) => convert !== undefined)
  return Object.fromEntries(named) as Record<string, Convert>
}

function noField(option: string, name: string): string {
  return `'${option}' names '${name}', which is not a field of the model`
}

export function checkFieldNames(names: readonly string[], fail: Fail): void {
  for (const name of names) {
    if (name.startsWith('-'))
      fail(`a field cannot be named '${name}': '-' begins a descending sort`)
  }
  checkStoredNames(names, fail)
}

/** Refuses names that no field can have had. */
function checkStoredNames(names: readonly string[], fail: Fail): void {
  for (const name of names) {
    if (isForbiddenKey(name)) fail(`'fields' must not contain '${name}', which the server sets`)
    if (/["\u0000-\u001f]/.test(name) || !isName(name)) fail(`a field cannot be named '${name}'`)
    // Every object has such a member, so a lookup would find one even if the record lacks it.
    if (name in Object.prototype)
      fail(`a field cannot be named '${name}': every object has a member of this name`)
    // MongoDB's driver treats an index or filter with this name as one of its own values.
    if (name === '_bsontype')
      fail(`a field cannot be named '${name}': MongoDB's driver reserves it`)
  }
}

/** Whether a collection would be among the tables that fieldgate, SQLite or D1 keep. SQLite knows no case. */
export function isReserved(collection: string): boolean {
  return /^(?:fieldgate_|sqlite_|_cf_)/i.test(collection)
}

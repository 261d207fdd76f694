/**
 * A store of your own, in one file: records in memory, gone with the process. It imports nothing but `fieldgate/ports`,
 * and keeps every promise of the store contract (`store.test.ts`). Copy it to begin a store for another database.
 *
 * @module
 */

import {
  type Change,
  type Collection,
  type CollectionSchema,
  type Comparison,
  DuplicateKey,
  type Fields,
  type Filter,
  fold,
  IndexConflict,
  type ObjectShape,
  placeOf,
  project,
  type Read,
  type ReadHints,
  type Scalar,
  type SortKey,
  type Store,
  StoreTimeout,
  StoreUnavailable,
  type WriteOptions,
} from 'fieldgate/ports'

/** The records of one collection, and what must be unique among them. */
interface Table {
  records: Fields[]
  unique: readonly (readonly string[])[]
}

/** A store in memory. */
export function memoryStore(): Store {
  const tables = new Map<string, Table>()
  let isOpen = true
  const tableOf = (name: string): Table => {
    if (!isOpen) throw new StoreUnavailable('the store has been closed')
    const table = tables.get(name) ?? { records: [], unique: [['_id']] }
    tables.set(name, table)
    return table
  }
  return {
    name: 'memory',
    // Regular expressions of clients can take for ever here.
    rawRegex: false,
    collection: (schema) => collectionOver(() => tableOf(schema.name), schema),
    async prepare(schemas) {
      // All are checked before any is taken over: a start that fails must leave things as they were.
      for (const { name, unique } of schemas) refuseConflicts(name, tableOf(name).records, unique)
      for (const { name, unique } of schemas) tableOf(name).unique = [['_id'], ...unique]
    },
    async close() {
      isOpen = false
    },
  }
}

/**
 * JavaScript runs one function at a time, so whatever happens here between two `await`s is one atomic step. None of
 * the functions waits for anything. With a real database each write must be one statement.
 */
function collectionOver(table: () => Table, { shape }: CollectionSchema): Collection {
  const matching = (filter: Filter, hints?: ReadHints): Fields[] => {
    hints?.signal?.throwIfAborted()
    const end = performance.now() + (hints?.timeLimitMs ?? Number.POSITIVE_INFINITY)
    return table().records.filter((record) => {
      if (performance.now() > end) throw new StoreTimeout('the read took too long')
      return matches(filter, record, shape)
    })
  }
  const target = (filter: Filter, { expect = {} }: WriteOptions): Fields | undefined =>
    matching(filter).find((record) =>
      Object.entries(expect).every(([field, value]) => isSame(record[field], value)),
    )
  const replace = (before: Fields, change: Change): Fields => {
    const after = changed(before, change)
    const { records, unique } = table()
    refuseTaken(
      records.filter((other) => other !== before),
      after,
      unique,
    )
    records[records.indexOf(before)] = after
    return after
  }
  return {
    async find({ filter, sort, after, skip = 0, limit, select, hints }: Read) {
      const found = matching(filter, hints)
      const placed = found.map((record) => ({ record, at: positionOf(record, sort, shape) }))
      placed.sort((a, b) => order(a.at, b.at, sort))
      const rest = after ? placed.filter(({ at }) => order(at, after, sort) > 0) : placed
      // Copies: nobody may change what is stored.
      return rest
        .slice(skip, skip + limit)
        .map(({ record }) => project(structuredClone(record), select))
    },
    count: async (filter, hints) => matching(filter, hints).length,
    estimate: async () => table().records.length,
    async insert(record) {
      const { records, unique } = table()
      refuseTaken(records, record, unique)
      records.push(structuredClone(record))
    },
    async update(filter, change, options = {}) {
      const before = target(filter, options)
      return before ? structuredClone(replace(before, change)) : null
    },
    async updateMany(filter, change) {
      const found = matching(filter)
      for (const record of found) replace(record, change)
      return found.length
    },
    async delete(filter, options = {}) {
      const found = target(filter, options)
      if (found) table().records = table().records.filter((record) => record !== found)
      return found ?? null
    },
  }
}

/** A unique set is sparse: a record in which one of its fields is null or missing clashes with none. */
function clash(records: readonly Fields[], record: Fields, fields: readonly string[]): boolean {
  if (fields.some((field) => (record[field] ?? null) === null)) return false
  return records.some((other) => fields.every((field) => isSame(other[field], record[field])))
}

function refuseTaken(
  records: readonly Fields[],
  record: Fields,
  unique: readonly (readonly string[])[],
): void {
  const taken = unique.find((fields) => clash(records, record, fields))
  if (taken) throw new DuplicateKey(taken)
}

function refuseConflicts(
  name: string,
  records: readonly Fields[],
  unique: readonly (readonly string[])[],
): void {
  for (const fields of unique) {
    const isBroken = records.some((record, at) => clash(records.slice(0, at), record, fields))
    if (isBroken) throw new IndexConflict(name, fields)
  }
}

function matches(filter: Filter, record: Fields, shape: ObjectShape): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => matches(one, record, shape))
    case 'or':
      return filter.filters.some((one) => matches(one, record, shape))
    // The exact negations: they keep null and missing.
    case 'ne':
      return !matches({ ...filter, op: 'eq' }, record, shape)
    case 'nin':
      return !matches({ ...filter, op: 'in' }, record, shape)
    case 'in':
      return filter.values.some((value) =>
        matches({ op: 'eq', field: filter.field, value }, record, shape),
      )
    case 'contains': {
      const text = fold(filter.text)
      return valuesAt(record, filter.field, shape).some(
        (value) => typeof value === 'string' && fold(value).includes(text),
      )
    }
    case 'matches':
      throw new TypeError('this store has no patterns: rawRegex is false')
    default:
      return valuesAt(record, filter.field, shape).some((value) => meets(value, filter))
  }
}

function meets(value: unknown, { op, value: wanted }: Comparison): boolean {
  if (op === 'eq') return isSame(value, wanted)
  // Null is less and greater than nothing, and values of two types do not compare.
  if (wanted === null || typeof value !== typeof wanted || !isScalar(value)) return false
  const sign = compare(value, wanted)
  if (sign === 0) return op === 'gte' || op === 'lte'
  return sign > 0 ? op.startsWith('g') : op.startsWith('l')
}

function isScalar(value: unknown): value is Scalar {
  return typeof value !== 'object' || value instanceof Date
}

/** What a path leads to: one value, or one for each element of the lists on its way. Null stands for nothing. */
function valuesAt(record: Fields, path: string, shape: ObjectShape): unknown[] {
  return valuesIn(record, placeOf(shape, path)?.parts ?? [path])
}

/** The parts of a path are cut at the lists that the model declares (`placeOf`). */
function valuesIn(value: unknown, [part = '', ...rest]: readonly string[]): unknown[] {
  let inner = value
  for (const key of part === '' ? [] : part.split('.')) inner = (inner as Fields | null)?.[key]
  if (rest.length === 0) return [inner ?? null]
  return Array.isArray(inner) ? inner.flatMap((element) => valuesIn(element, rest)) : [null]
}

function positionOf(record: Fields, sort: readonly SortKey[], shape: ObjectShape): Scalar[] {
  return sort.map(({ field }) => (valuesAt(record, field, shape)[0] ?? null) as Scalar)
}

function order(a: readonly Scalar[], b: readonly Scalar[], sort: readonly SortKey[]): number {
  for (const [at, { descending }] of sort.entries()) {
    const sign = compare(a[at] ?? null, b[at] ?? null)
    if (sign !== 0) return descending ? -sign : sign
  }
  return 0
}

/** Null first; then instants, numbers, false before true, or strings by code point. A field has one type. */
function compare(a: Scalar, b: Scalar): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' || typeof b !== 'string') return Math.sign(Number(a) - Number(b))
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return Math.sign((a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1))
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Date || b instanceof Date || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => key in b && isSame((a as Fields)[key], (b as Fields)[key]))
  )
}

/** A changed copy; the members of a change apply in this order. */
function changed(record: Fields, { set, unset, increment, push, pull }: Change): Fields {
  const copy = structuredClone(record)
  for (const [path, value] of Object.entries(set ?? {})) put(copy, path, () => value)
  for (const path of unset ?? []) put(copy, path, () => undefined)
  for (const [path, by] of Object.entries(increment ?? {}))
    put(copy, path, (before) => Number(before ?? 0) + by)
  for (const [path, { value, cap = Number.POSITIVE_INFINITY }] of Object.entries(push ?? {}))
    put(copy, path, (before) => [...((before as unknown[] | null) ?? []), value].slice(-cap))
  for (const [path, { key, value }] of Object.entries(pull ?? {}))
    put(copy, path, (before) =>
      Array.isArray(before) ? before.filter((element) => element[key] !== value) : before,
    )
  return structuredClone(copy)
}

/** Sets what a dotted path leads to, and makes the objects on its way; undefined removes it. */
function put(record: Fields, path: string, next: (before: unknown) => unknown): void {
  const keys = path.split('.')
  const last = keys.pop() as string
  let object = record
  for (const key of keys) {
    if (typeof object[key] !== 'object' || object[key] === null) {
      if (next(undefined) === undefined) return
      object[key] = {}
    }
    object = object[key] as Fields
  }
  const value = next(object[last])
  if (value === undefined) delete object[last]
  else object[last] = value
}

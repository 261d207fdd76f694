/**
 * One collection of the store.
 *
 * @module
 */

import type { Db, Document, Collection as Native } from 'mongodb'
import type { Filter } from '../../../src/ports/filter.ts'
import { project } from '../../../src/ports/projection.ts'
import type {
  Collection,
  CollectionSchema,
  Fields,
  Projection,
  Read,
  ReadHints,
} from '../../../src/ports/store.ts'
import { Commands, type Options } from './calls/commands.ts'
import { inserter } from './calls/inserts.ts'
import { pointOf, pointReader, type Shared } from './calls/reads-by-id.ts'
import { listReader } from './calls/shared-lists.ts'
import { writesTo } from './calls/writes.ts'
import type { Run } from './connection/errors.ts'
import { fromDocument } from './documents/documents.ts'
import { idIn, shownText } from './documents/texts.ts'
import { compileFilter, hasPattern } from './query/filter.ts'
import { restAfter } from './query/seek-filter.ts'
import { GRAMS, type Indexed } from './search/grams.ts'

/** How long a client's regular expression may run if the read sets no limit. */
const PATTERN_TIME_LIMIT_MS = 2000

/** What the collections of a store share. */
export interface Opening {
  readonly database: Db
  /** The paths of a collection with a search index. */
  indexedOf(schema: CollectionSchema): Indexed
  /** Whether the database is a sharded cluster. */
  isSharded(): Promise<boolean>
}

/** The collection of `schema`. */
export function openCollection(
  schema: CollectionSchema,
  { database, indexedOf, isSharded }: Opening,
  run: Run,
): Collection {
  const indexed = () => indexedOf(schema)
  const { shape } = schema
  const native = database.collection(schema.name)
  const compile = (filter: Filter) => compileFilter(filter, shape, indexed())
  const insert = inserter(native)
  const writes = writesTo(schema, native, indexed)
  const commands = new Commands(native, database, isSharded)

  const optionsOf = ({ filter, hints, select }: Pick<Read, 'filter' | 'hints' | 'select'>) => ({
    ...readOptions(filter, hints),
    ...projectionOf(select, indexed()),
  })

  /** The query and the options of a read of many. */
  function pageOf(read: Read): [Document, Options] {
    const { filter, sort, after } = read
    const query = compile(after ? restAfter(filter, sort, after) : filter)
    return [query, pageOptions(read, optionsOf(read))]
  }

  /** The same of reads by id. */
  function pointsOf(ids: readonly string[], { select, timeLimitMs }: Shared): [Document, Options] {
    const filter: Filter = { op: 'in', field: '_id', values: ids }
    const options = optionsOf({ filter, hints: { timeLimitMs }, ...(select && { select }) })
    return [compile(filter), { ...options, limit: ids.length }]
  }

  const recordsOf = (documents: readonly Document[], select: Projection | undefined): Fields[] => {
    const records = documents.map((document) => fromDocument(document, shape))
    return hasPaths(select) ? records.map((one) => project(one, select)) : records
  }
  const textsOf = (documents: readonly Document[], shown: Pick<Read, 'select' | 'fillDefaults'>) =>
    recordsOf(documents, shown.select).map((record) => shownText(record, schema.declared, shown))

  const readRecord = pointReader<Fields>(async (ids, shared) => {
    const found = await commands.documents(...pointsOf(ids, shared))
    return new Map(recordsOf(found, shared.select).map((one) => [String(one._id), one]))
  }, structuredClone)

  const readText = pointReader<string>(
    async (ids, shared) => {
      const found = await commands.documents(...pointsOf(ids, shared))
      return new Map(textsOf(found, shared).map((text) => [idIn(text), text]))
    },
    (text) => text,
  )

  const readList = listReader(async (read) =>
    textsOf(await commands.documents(...pageOf(read)), read),
  )

  async function find(read: Read): Promise<Fields[]> {
    // To the server, 0 means no limit.
    if (read.limit === 0) return []
    const point = pointOf(read)
    if (!point) return recordsOf(await commands.documents(...pageOf(read)), read.select)
    const one = await readRecord(point)
    return one ? [one] : []
  }

  async function findJson(read: Read): Promise<string[]> {
    if (read.limit === 0) return []
    const point = pointOf(read)
    if (!point) return readList(read)
    const one = await readText(point)
    return one === undefined ? [] : [one]
  }

  return {
    ...(schema.idType === 'integer' && { newId: nextInteger(native, run) }),
    find: (read) => run(() => find(read)),
    findJson: (read) => run(() => findJson(read)),

    count: (filter, hints) =>
      run(() => commands.count(compile(filter), readOptions(filter, hints))),

    estimate: () => run(() => native.estimatedDocumentCount()),

    insert: (fields) => run(async () => insert(writes.documentOf(fields))),
    update: (filter, change, options) => run(() => writes.update(filter, change, options)),
    updateMany: (filter, change) => run(() => writes.updateMany(filter, change)),
    delete: (filter, options) => run(() => writes.delete(filter, options)),
  }
}

/**
 * Makes ids that are integers: the next after the greatest one, whatever ids of other types other programs have stored. Two
 * processes may make the same; one insert then fails.
 */
function nextInteger(native: Native, run: Run): () => Promise<string> {
  let last = 0n
  return async () => {
    const [found] = await run(() =>
      native.find(NUMBERED, { sort: { _id: -1 }, limit: 1, projection: { _id: 1 } }).toArray(),
    )
    const greatest = integerIn(found?._id)
    last = (greatest > last ? greatest : last) + 1n
    return String(last)
  }
}

const NUMBERED: Document = { _id: { $type: ['int', 'long', 'double'] } }

/** The greatest integer that is not above a number of BSON: a Long is an object if JavaScript has no such number. */
function integerIn(id: unknown): bigint {
  if (typeof id !== 'number') return BigInt(String(id ?? 0))
  return Number.isFinite(id) ? BigInt(Math.floor(id)) : 0n
}

/** `options`, plus the sort, skip and limit of the read. */
function pageOptions({ sort, limit, skip }: Read, options: Options): Options {
  return {
    ...options,
    ...(sort.length > 0 && {
      sort: new Map(sort.map(({ field, descending }) => [field, descending ? -1 : 1])),
    }),
    limit,
    ...(skip !== undefined && { skip }),
  }
}

function readOptions(filter: Filter, hints: ReadHints = {}) {
  const limit = hints.timeLimitMs ?? (hasPattern(filter) ? PATTERN_TIME_LIMIT_MS : undefined)
  return {
    // To the server, 0 means no limit.
    ...(limit !== undefined && { maxTimeMS: Math.max(1, Math.ceil(limit)) }),
    ...(hints.allowDiskUse !== undefined && { allowDiskUse: hints.allowDiskUse }),
    ...(hints.batchSize !== undefined && { batchSize: hints.batchSize }),
    ...(hints.signal && { signal: hints.signal }),
  }
}

/** A name that no document has. */
const IN_NO_INDEX = '_none'

/** The database selects whole fields, `project` the rest. */
function projectionOf(
  select: Projection = { exclude: [] },
  indexed: Indexed,
): { projection?: Document } {
  const isWhole = 'exclude' in select
  const names = isWhole
    ? select.exclude.filter((path) => path !== '_id' && !path.includes('.'))
    : ['_id', ...select.include.map((path) => path.replace(/\..*/s, ''))]
  if (isWhole && indexed) names.push(GRAMS)
  // An index that holds all of them would return them in its own order instead of the document's.
  if (!isWhole && names.length > 1) names.push(IN_NO_INDEX)
  if (names.length === 0) return {}
  return { projection: Object.fromEntries(names.map((name) => [name, isWhole ? 0 : 1])) }
}

/** Whether a read selects something inside a field. */
function hasPaths(select: Projection | undefined): boolean {
  const paths = select ? ('exclude' in select ? select.exclude : select.include) : []
  return paths.some((path) => path.includes('.'))
}

/**
 * One collection of the store.
 *
 * @module
 */

import type { Document, FindOptions, Collection as Native } from 'mongodb'
import { onlyDeclared, withDefaults } from '../../../src/ports/declared.ts'
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
import { fromDocument, textOf } from './documents.ts'
import { compileFilter, hasPattern } from './filter.ts'
import { GRAMS } from './grams.ts'
import { inserter } from './inserts.ts'
import { idOf, pointReader } from './reads-by-id.ts'
import { restAfter } from './seek-filter.ts'
import { listReader } from './shared-lists.ts'
import { writesTo } from './writes.ts'

/** Runs an operation on the collection and turns its errors into the port's. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

/** How long a client's regular expression may run if the read sets no limit. */
const PATTERN_TIME_LIMIT_MS = 2000

/** The collection of `schema`, which is `native` in the database; `indexed` returns its paths with a search index. */
export function openCollection(
  schema: CollectionSchema,
  native: Native,
  indexed: () => readonly string[],
  run: Run,
): Collection {
  const { shape, declared } = schema
  const compile = (filter: Filter) => compileFilter(filter, shape, indexed())
  const insert = inserter(native)
  const writes = writesTo(schema, native, indexed)
  const readPoint = pointReader(native, shape)

  function readQuery({ filter, sort, after }: Read): Document {
    return compile(after ? restAfter(filter, sort, after) : filter)
  }

  async function readMany(read: Read, options: FindOptions) {
    const documents = await native.find(readQuery(read), pageOptions(read, options)).toArray()
    return documents.map((document) => fromDocument(document, shape))
  }

  async function find(read: Read): Promise<Fields[]> {
    // To the driver, 0 means no limit.
    if (read.limit === 0) return []
    const options = {
      ...readOptions(read.filter, read.hints),
      ...projectionOf(read.select, indexed()),
    }
    const id = idOf(read)
    const found = await (id === undefined ? readMany(read, options) : readPoint({ id, options }))
    return hasPaths(read.select) ? found.map((one) => project(one, read.select)) : found
  }

  /** The JSON of a record read for `read`: what the model declares of it, and the defaults that it lacks. */
  const shownJson = (fields: Fields, { select, fillDefaults }: Read): string => {
    if (!declared) return textOf(fields)
    const shown = onlyDeclared(declared, fields)
    const whole = fillDefaults ? withDefaults(declared, shown) : shown
    return textOf(whole === shown ? (shown as Fields) : project(whole as Fields, select))
  }

  const textsOf = async (read: Read) => (await find(read)).map((one) => shownJson(one, read))
  const readList = listReader(textsOf)

  return {
    find: (read) => run(() => find(read)),

    findJson: (read) =>
      run(async () => {
        return idOf(read) === undefined ? readList(read) : textsOf(read)
      }),

    count: (filter, hints) =>
      run(() => native.countDocuments(compile(filter), readOptions(filter, hints))),

    estimate: () => run(() => native.estimatedDocumentCount()),

    insert: (fields) => run(async () => insert(writes.documentOf(fields))),
    update: (filter, change, options) => run(() => writes.update(filter, change, options)),
    updateMany: (filter, change) => run(() => writes.updateMany(filter, change)),
    delete: (filter, options) => run(() => writes.delete(filter, options)),
  }
}

/** `options`, plus the sort, skip and limit of the read. */
function pageOptions({ sort, limit, skip }: Read, options: FindOptions): FindOptions {
  return {
    // One round trip per page.
    batchSize: limit,
    ...options,
    sort: new Map(sort.map(({ field, descending }) => [field, descending ? -1 : 1])),
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
  indexed: readonly string[],
): { projection?: Document } {
  const isWhole = 'exclude' in select
  const names = isWhole
    ? select.exclude.filter((path) => path !== '_id' && !path.includes('.'))
    : ['_id', ...select.include.map((path) => path.replace(/\..*/s, ''))]
  if (isWhole && indexed.length > 0) names.push(GRAMS)
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

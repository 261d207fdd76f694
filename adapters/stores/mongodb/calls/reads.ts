/**
 * The reads of one collection: by ids, lists and counts.
 *
 * @module
 */

import type { Document } from 'mongodb'
import type { AggregateRead } from '../../../../src/ports/aggregate.ts'
import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import { project } from '../../../../src/ports/projection.ts'
import type {
  CollectionSchema,
  Fields,
  Projection,
  Read,
  ReadHints,
} from '../../../../src/ports/store.ts'
import { gather } from '../../gather.ts'
import { fromDocument, idIn, shownText } from '../documents/documents.ts'
import { compileFilter, hasPattern } from '../query/filter.ts'
import { pipelineOf, rowsOf } from '../query/groups.ts'
import { restAfter } from '../query/seek-filter.ts'
import { GRAMS, type Indexed } from '../search/grams.ts'
import type { Commands, Options } from './commands.ts'
import { pointOf, pointReader, type Shared } from './reads-by-id.ts'

/** How long a client's regular expression may run if the read sets no limit. */
const PATTERN_TIME_LIMIT_MS = 2000

/** Reads the documents of `schema` through `commands`; `indexed` gives the paths with a search index. */
export class Reads {
  readonly #schema: CollectionSchema
  readonly #commands: Commands
  readonly #indexed: () => Indexed

  constructor(schema: CollectionSchema, commands: Commands, indexed: () => Indexed) {
    this.#schema = schema
    this.#commands = commands
    this.#indexed = indexed
  }

  async find(read: Read): Promise<Fields[]> {
    // To the server, 0 means no limit.
    if (read.limit === 0) return []
    const point = pointOf(read)
    if (!point) return this.#page(read)
    const one = await this.#record(point)
    return one ? [one] : []
  }

  async findJson(read: Read): Promise<string[]> {
    if (read.limit === 0) return []
    const point = pointOf(read)
    if (!point) return this.#texts(read)
    const one = await this.#text(point)
    return one === undefined ? [] : [one]
  }

  count(filter: Filter, hints?: ReadHints): Promise<number> {
    return this.#commands.count(this.#compile(filter), readOptions(filter, hints))
  }

  async aggregate(read: AggregateRead): Promise<Scalar[][]> {
    const { shape } = this.#schema
    const pipeline = pipelineOf(read, this.#compile(read.filter), shape)
    const options = readOptions(read.filter, read.hints)
    return rowsOf(await this.#commands.groups(pipeline, options), read, shape)
  }

  readonly #record = pointReader<Fields>(async (ids, shared) => {
    const found = await this.#byIds(ids, shared)
    return new Map(found.map((one) => [String(one._id), one]))
  }, structuredClone)

  readonly #text = pointReader<string>(
    async (ids, shared) => {
      const found = await this.#byIds(ids, shared)
      return new Map(this.#textsOf(found, shared).map((text) => [idIn(text), text]))
    },
    (text) => text,
  )

  readonly #texts = listReader(async (read) => this.#textsOf(await this.#page(read), read))

  #page(read: Read): Promise<Fields[]> {
    const { filter, sort, after, select } = read
    const query = this.#compile(after ? restAfter(filter, sort, after) : filter)
    return this.#records(query, pageOptions(read, this.#optionsOf(read)), select)
  }

  #byIds(ids: readonly string[], { select, timeLimitMs }: Shared): Promise<Fields[]> {
    const filter: Filter = { op: 'in', field: '_id', values: ids }
    const options = this.#optionsOf({ filter, hints: { timeLimitMs }, ...(select && { select }) })
    return this.#records(this.#compile(filter), { ...options, limit: ids.length }, select)
  }

  async #records(
    query: Document,
    options: Options,
    select: Projection | undefined,
  ): Promise<Fields[]> {
    const documents = await this.#commands.documents(query, options)
    const records = documents.map((document) => fromDocument(document, this.#schema.shape))
    return hasPaths(select) ? records.map((one) => project(one, select)) : records
  }

  #textsOf(records: readonly Fields[], shown: Pick<Read, 'select' | 'fillDefaults'>): string[] {
    return records.map((record) => shownText(record, this.#schema.declared, shown))
  }

  #compile(filter: Filter): Document {
    return compileFilter(filter, this.#schema.shape, this.#indexed())
  }

  #optionsOf({ filter, hints, select }: Pick<Read, 'filter' | 'hints' | 'select'>): Options {
    return { ...readOptions(filter, hints), ...projectionOf(select, this.#indexed()) }
  }
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

function readOptions(filter: Filter, hints: ReadHints = {}): Options {
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

/**
 * Reads lists through `textsOf`, each distinct list of a turn of the event loop once: strings, unlike records, can be
 * shared.
 */
function listReader(textsOf: (read: Read) => Promise<string[]>): (read: Read) => Promise<string[]> {
  return gather((reads: Read[]) => {
    const known = new Map<string, Promise<string[]>>()
    return reads.map((read) => {
      const key = JSON.stringify(read, withDates)
      const texts = known.get(key) ?? textsOf(read)
      known.set(key, texts)
      return texts
    })
  })
}

/** JSON would take a date and its string for the same. */
function withDates(this: Readonly<Fields>, key: string, value: unknown): unknown {
  return this[key] instanceof Date ? { date: value } : value
}

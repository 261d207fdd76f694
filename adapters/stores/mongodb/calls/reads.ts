/** The reads of one collection. Those by id, and identical lists, of one turn of the event loop share a round trip. */

import { type Abortable, type Document, type FindOptions, MinKey } from 'mongodb'
import { position } from '../../../../src/ports/evaluation/evaluate.ts'
import type { AggregateRead } from '../../../../src/ports/store/aggregate.ts'
import { type Filter, type Scalar, withId } from '../../../../src/ports/store/filter.ts'
import { project } from '../../../../src/ports/store/projection.ts'
import type { Fields, Projection, Read, ReadHints } from '../../../../src/ports/store/records.ts'
import { topOf } from '../../../../src/ports/values/paths.ts'
import { gather } from '../../gather.ts'
import { shownText } from '../../json-values.ts'
import { idOf, placeAt } from '../../planner/seek.ts'
import { type Connection, MAJORITY } from '../connection/connection.ts'
import { hasCode, isPassing, NO_SNAPSHOT } from '../connection/errors.ts'
import { DOCUMENTS_AS_BYTES, NONE_AS_BYTES } from '../documents/bson.ts'
import { fromDocument, recordsIn, type Stored } from '../documents/documents.ts'
import { asText, compileFilter, directionOf, hasPattern, restAfter } from '../query/filter.ts'
import { pipelineOf, rowsOf } from '../query/groups.ts'
import { GRAMS, type Indexed } from '../search/grams.ts'

/** How long a client's regular expression may run if the read sets no limit. */
const PATTERN_TIME_LIMIT_MS = 2000

/** Every document, by its index: without a query, `count` only knows what the last shutdown has saved. */
const EVERY_ID: Document = { _id: { $gte: new MinKey() } }

type Options = FindOptions & Abortable

/** A read by id. It has no signal, which would end the others too. */
interface Point {
  readonly id: string
  readonly select: Projection | undefined
  readonly timeLimitMs: number | undefined
}

export class Reads {
  readonly #of: Stored
  readonly #connection: Connection
  /** Whether something was read of which JavaScript has no more than a part, such as a Decimal128. */
  #hasRare = false

  constructor(of: Stored, connection: Connection) {
    this.#of = of
    this.#connection = connection
  }

  async find(read: Read): Promise<Fields[]> {
    // To the server, 0 means no limit.
    if (read.limit === 0) return []
    const id = idOf(read)
    if (id === undefined) return this.#page(read)
    const { select, hints } = read
    const one = await this.#point({ id, select, timeLimitMs: hints?.timeLimitMs })
    return one ? [one] : []
  }

  findJson(read: Read): Promise<string[]> {
    return idOf(read) === undefined ? this.#texts(read) : this.#textsOf(read)
  }

  /**
   * The number of records that match. `count` looks at an index alone, but on shards it counts documents that are being
   * moved, too.
   */
  async count(filter: Filter, hints?: ReadHints): Promise<number> {
    const found = this.#compile(filter)
    const query = Object.keys(found).length > 0 ? found : EVERY_ID
    const { timeLimitMs, signal } = { ...hints }
    const options = readOptions(filter, { timeLimitMs, signal })
    const isSharded = await this.#connection.isSharded()
    const command = { count: this.#of.schema.name, query, readConcern: MAJORITY }
    const reply = !isSharded && (await this.#sent(command, options))
    return reply ? reply.n : this.#of.native.countDocuments(query, options)
  }

  async aggregate(read: AggregateRead): Promise<Scalar[][]> {
    const { native, schema } = this.#of
    const { shape } = schema
    const pipeline = pipelineOf(read, this.#compile(read.filter), shape)
    const options = readOptions(read.filter, read.hints)
    const { readConcern } = this.#connection
    const found = await native
      .aggregate(pipeline, { ...options, readConcern })
      .toArray()
      .catch((error) => {
        if (!hasCode(error, NO_SNAPSHOT)) throw error
        return native.aggregate(pipeline, options).toArray()
      })
    return rowsOf(found, read, shape)
  }

  readonly #point = gather((points: Point[]): Promise<Fields | undefined>[] => {
    const keyOf = ({ select, timeLimitMs }: Point) => JSON.stringify([select, timeLimitMs])
    const groups = [...Map.groupBy(points, keyOf).values()].map((alike) => {
      const found = this.#byIds(alike)
      return alike.map((point, at) => [point, found.then((records) => records[at])] as const)
    })
    const all = new Map(groups.flat())
    return points.map((point) => all.get(point) ?? Promise.resolve(undefined))
  })

  /** What was found for each of the points, which ask for the same of their records. */
  async #byIds(points: readonly Point[]): Promise<(Fields | undefined)[]> {
    const ids = new Set(points.map(({ id }) => id))
    const { select, timeLimitMs } = points[0] ?? {}
    const filter: Filter = { op: 'in', field: '_id', values: [...ids] }
    const read = { filter, sort: [], limit: ids.size, hints: { timeLimitMs } }
    // A record alone is of one moment anyway, and a snapshot takes longer to ask for.
    const records = await this.#page({ ...read, ...(select && { select }) }, MAJORITY)
    const found = new Map(records.map((record) => [record._id, record]))
    return points.map(({ id }) => {
      const record = found.get(id)
      // The first reader has it, every other one a copy.
      return record && !ids.delete(id) ? structuredClone(record) : record
    })
  }

  /** Each distinct list of a turn is read once: strings, unlike records, can be shared. */
  readonly #texts = gather((reads: Read[]): Promise<string[]>[] => {
    const keys = reads.map((read) => JSON.stringify(read, withDates))
    const known = new Map<string, Promise<string[]>>()
    return reads.map((read, at) => {
      const key = keys[at] ?? ''
      const isShared = keys.lastIndexOf(key) > keys.indexOf(key)
      // A reader who has gone must not end what others wait for.
      const { signal, ...hints } = { ...read.hints }
      const texts = known.get(key) ?? this.#textsOf(isShared ? { ...read, hints } : read)
      known.set(key, texts)
      return texts
    })
  })

  async #textsOf(read: Read): Promise<string[]> {
    const records = await this.find(read)
    return records.map((record) => shownText(record, this.#of.schema, read))
  }

  async #page(read: Read, readConcern = this.#connection.readConcern): Promise<Fields[]> {
    const { filter, sort, after, skip, limit, select, hints } = read
    const found = this.#compile(filter)
    const from = after && (await this.#storedAt(sort, after, hints))
    const query = from ? restAfter(found, sort, from, this.#of.schema.shape) : found
    const records = await this.#records(query, {
      ...readOptions(filter, hints),
      ...projectionOf(select, this.#of.indexed()),
      ...(sort.length > 0 && { sort: new Map(sort.map((key) => [key.field, directionOf(key)])) }),
      ...(skip !== undefined && { skip }),
      ...{ limit, readConcern },
    })
    const paths = select ? ('exclude' in select ? select.exclude : select.include) : []
    const isInside = paths.some((path) => path.includes('.'))
    return isInside ? records.map((one) => project(one, select)) : records
  }

  /**
   * A position as the record there has it: a Decimal128 or a Long is another number than what JavaScript has of it, unless that
   * is whole and short, a reference may be stored as a string, and what is read as a string, an object or null, as an ObjectId,
   * a Timestamp or another type of the database's own. The record has been read before: for its position.
   */
  async #storedAt(
    sort: Read['sort'],
    after: readonly Scalar[],
    hints: ReadHints | undefined,
  ): Promise<readonly Scalar[]> {
    const { native, schema } = this.#of
    const id = after[sort.findIndex(({ field }) => field === '_id')]
    const isOther = sort.map(
      ({ field }) => field !== '_id' && placeAt(field, schema.shape).shape.kind === 'id',
    )
    const isKnown = after.every((value, at) => {
      if (typeof value === 'number') {
        return Math.abs(value) < 2 ** 53 && (!this.#hasRare || Number.isInteger(value))
      }
      if (sort[at]?.field === '_id') return true
      if (value === null || isObject(value)) return false
      return typeof value !== 'string' || !(isOther[at] || this.#hasRare || IDS.test(value))
    })
    if (typeof id !== 'string' || isKnown) return after
    const filter = withId(id)
    const projection = Object.fromEntries(sort.map(({ field }) => [topOf(field), 1]))
    const options = { ...readOptions(filter, hints), projection, promoteLongs: false }
    const found = await native.findOne(this.#compile(filter), options)
    const stored = position(sort, found ?? {})
    return after.map((value, at) => {
      const own = stored[at] ?? null
      const { _bsontype: type } = Object(own)
      const isNumber = type === 'Decimal128' || type === 'Long'
      if (isNumber && Number(String(own)) === value) return own
      const isRead = typeof value === 'string' || value === null || isObject(value)
      if (isRead && !isOther[at] && isObject(own)) return own
      return isOther[at] && typeof own === 'string' && own === value ? asText(own) : value
    })
  }

  /** As a command: the driver's cursors cost as much again as the command that they send. */
  async #records(query: Document, options: Options & { limit: number }): Promise<Fields[]> {
    const { native, schema } = this.#of
    // One more, so that the server knows that it is done.
    const batchSize = Math.max(options.batchSize ?? 0, options.limit + 1)
    const reply = await this.#sent(
      { find: schema.name, filter: query },
      { ...options, batchSize },
      DOCUMENTS_AS_BYTES,
    )
    const found = () => {
      this.#hasRare = true
    }
    const records = reply && recordsIn(reply.cursor, schema.shape, found)
    if (records) return records
    found()
    // Without a reply it may be a collection that can't be read at one moment, such as a capped one.
    const { readConcern, ...others } = options
    const documents = await native
      .find(query, { ...others, ...(reply && { readConcern }) })
      .toArray()
    return documents.map((document) => fromDocument(document, schema.shape))
  }

  /** The reply to a command; undefined if another try may be worth it, which the driver's own calls make. */
  async #sent(
    command: Document,
    { signal, ...options }: Options,
    bytes = NONE_AS_BYTES,
  ): Promise<Document | undefined> {
    const { database } = this.#connection
    try {
      return await database.command(
        { ...command, ...options },
        { ...bytes, ...(signal && { signal }) },
      )
    } catch (error) {
      if (isPassing(error)) return undefined
      throw error
    }
  }

  #compile(filter: Filter): Document {
    const { schema, indexed } = this.#of
    return compileFilter(filter, schema.shape, indexed())
  }
}

function readOptions(filter: Filter, hints: ReadHints = {}): Options {
  const { timeLimitMs, allowDiskUse, batchSize, signal } = hints
  const limit = timeLimitMs ?? (hasPattern(filter) ? PATTERN_TIME_LIMIT_MS : undefined)
  return {
    // To the server, 0 means no limit.
    ...(limit !== undefined && { maxTimeMS: Math.max(1, Math.ceil(limit)) }),
    ...(allowDiskUse !== undefined && { allowDiskUse }),
    ...(batchSize !== undefined && { batchSize }),
    ...(signal && { signal }),
  }
}

/** What an ObjectId is read as. */
const IDS = /^[0-9a-f]{24}$/

/** Of the database's own types, or a plain one; no list, which has the place of one of its elements, and no date. */
function isObject(value: unknown): boolean {
  return Object(value) === value && !Array.isArray(value) && !(value instanceof Date)
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
    : ['_id', ...select.include.map(topOf)]
  if (isWhole && indexed) names.push(GRAMS)
  // An index that holds all of them would return them in its own order instead of the document's.
  if (!isWhole && names.length > 1) names.push(IN_NO_INDEX)
  if (names.length === 0) return {}
  return { projection: Object.fromEntries(names.map((name) => [name, isWhole ? 0 : 1])) }
}

/** JSON would take a date and its string for the same. */
function withDates(this: Readonly<Fields>, key: string, value: unknown): unknown {
  return this[key] instanceof Date ? { date: value } : value
}

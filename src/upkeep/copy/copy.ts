import { collectionSchema } from '../../model/collection-schema.ts'
import type { Model } from '../../model/model.ts'
import { idFrom } from '../../model/values/cast.ts'
import { batches, readable } from '../../ports/evaluation/walk.ts'
import { settledAll } from '../../ports/promises/settled-all.ts'
import type { Copyable, HeldRecord, WriteWatch } from '../../ports/store/copying.ts'
import { everything } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { DATE_AMONG_OTHERS, type IdType, type Shape, shapeInside } from '../../ports/store/shape.ts'
import type { Collection, CollectionSchema, Store } from '../../ports/store/store.ts'
import { DuplicateKey } from '../../ports/store/store-errors.ts'
import { type Progress, told } from '../tally.ts'
import { type Comparison, compare, type Pair } from './compare.ts'
import { ForeignValues, type Loss, losses } from './losses.ts'
import { mismatch } from './mismatch.ts'

export interface CopyOptions extends Progress {
  /** Whether to copy records with values that the target can't hold, each as something else. Default false. */
  readonly convert?: boolean
  /** What the copy will hold as something else: called before anything is written, and only with `convert`. */
  converting?(lost: readonly Loss[]): void
}

export interface CopyResult
  extends Pick<Comparison, 'collection' | 'source' | 'target' | 'checksum'> {
  /** How many of them this run has copied; the others were already there from an earlier run. */
  readonly copied: number
}

/**
 * Copies the records of `models` from one store to another, and compares both sides. A record already in the target under
 * the same id is left as it is, so an interrupted copy continues. The source is only read.
 *
 * Resolves only if both sides were equal at one moment. Throws a `ForeignValues`, before anything is written, if the
 * target can't hold what the source has; a `CopyMismatch` if the two sides are not equal afterwards, or if that can't be
 * told because the source was written to. Throws a `SamePlace` for a copy of a store onto itself.
 */
export async function copyRecords(
  from: Store,
  to: Store,
  models: readonly Model[],
  options: CopyOptions = {},
): Promise<CopyResult[]> {
  const places = await Promise.all([from, to].map(({ copying }) => copying?.place?.()))
  if (from === to || (places[0] !== undefined && places[0] === places[1])) throw new SamePlace()
  const schemas = models.map((model) => collectionSchema(model))
  return copyAll<unknown>(from, to, schemas, exactly(from, to) ?? sideIn(from, to), options)
}

export class SamePlace extends Error {
  override readonly name = 'SamePlace'
  constructor() {
    super('the source and the target are the same database: nothing would be copied')
  }
}

type Open<R> = (store: Store, schema: CollectionSchema) => Promise<Copyable<R>>

/** How two stores of one kind pass on what their database holds; undefined if they can't. */
function exactly(from: Store, to: Store): Open<Uint8Array> | undefined {
  const [ours, theirs] = [from, to].map(({ copying }) => copying?.exact)
  if (from.name !== to.name || !ours || !theirs) return undefined
  return async (store, schema) => (store === from ? ours : theirs)(schema)
}

async function copyAll<R>(
  from: Store,
  to: Store,
  schemas: readonly CollectionSchema[],
  open: Open<R>,
  options: CopyOptions,
): Promise<CopyResult[]> {
  const sources = await Promise.all(
    schemas.map(async (schema) => ({ schema, source: await open(from, schema) })),
  )
  const watch = await from.copying?.watch?.(schemas.map(({ name }) => name))
  try {
    const lost = await losses(sources, options)
    if (lost.length > 0) {
      if (!options.convert) throw new ForeignValues(lost)
      options.converting?.(lost)
    }
    const taken = sources.map(({ schema, source }) => {
      return { source, schema: lenient(schema, source.lacking) }
    })
    await to.prepare(taken.map(({ schema }) => schema))
    const pairs = await Promise.all(
      taken.map(async ({ schema, source }) => {
        return { name: schema.name, source, target: await open(to, schema) }
      }),
    )
    return await copyPairs(pairs, watch, options)
  } finally {
    await watch?.close()
  }
}

async function copyPairs<R>(
  pairs: readonly Pair<R>[],
  watch: WriteWatch | undefined,
  options: CopyOptions,
): Promise<CopyResult[]> {
  const copied: number[] = []
  for (const pair of pairs) copied.push(await copyCollection(pair, options))
  const wasWritten = await watch?.written()
  const compared: Comparison[] = []
  for (const pair of pairs) compared.push(await compare(pair, options))
  const isBeingWritten = watch ? await watch.written() : await hasChanged(pairs, compared)
  // What was written after the look for foreign values may hold some.
  const mustBeQuiet = pairs.some(({ source }) => source.foreign ?? source.held)
  const failure = mismatch(compared, {
    wasWritten: isBeingWritten || wasWritten,
    isCertain: !isBeingWritten && !(mustBeQuiet && wasWritten),
    mayLeaveOut: options.convert === true,
  })
  if (failure) throw failure
  return compared.map(({ collection, source, target, checksum }, at) => {
    return { collection, source, target, copied: copied[at] ?? 0, checksum }
  })
}

const AT_ONCE = 200

async function copyCollection<R>(
  { name, source, target }: Pair<R>,
  progress: Progress,
): Promise<number> {
  const total = await source.count()
  let copied = 0
  for await (const batch of told(source.batches(), progress, `copying ${name}`, total)) {
    const there = await target.counterparts(batch)
    const missing = batch.filter((record) => !there.has(source.idOf(record)))
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      await settledAll(
        missing.slice(at, at + AT_ONCE).map((record) => written(name, target, record)),
      )
    }
    copied += missing.length
  }
  return copied
}

async function written<R>(name: string, target: Copyable<R>, record: R): Promise<void> {
  try {
    await target.insert(record)
  } catch (error) {
    // Another copy was faster; what it has written is compared as all else is.
    if (error instanceof DuplicateKey && (await target.counterparts([record])).size > 0) return
    const why = error instanceof Error ? error.message : String(error)
    const which = `'${name}': the record ${target.idOf(record)}`
    throw new Error(`${which} can't be written: ${why}`, { cause: error })
  }
}

/** For a store that can't tell of writes: whether a second look finds something else. */
async function hasChanged<R>(
  pairs: readonly Pair<R>[],
  compared: readonly Comparison[],
): Promise<boolean> {
  for (const [at, pair] of pairs.entries()) {
    const again = await compare(pair)
    if (again.checksum !== compared[at]?.checksum) return true
  }
  return false
}

/** `schema` as a target takes records without fields that are required by now: a copy lacks what its source lacks. */
function lenient(schema: CollectionSchema, lacking?: ReadonlySet<string>): CollectionSchema {
  if (!lacking || lacking.size === 0) return schema
  const missing = [...lacking].map((field) => [field, 'missing'] as const)
  return { ...schema, absence: new Map([...(schema.absence ?? []), ...missing]) }
}

/** Opens collections, empty ones if they don't exist yet: those of the source with its records as the target holds them. */
function sideIn(from: Store, to: Store): Open<Fields> {
  return async (store, schema) => {
    const collection = await readable(store.collection(schema))
    const held = store === from ? to.copying?.held?.(schema) : undefined
    const foreign = store.copying?.foreign
    return {
      count: () => collection.count(everything),
      async *batches() {
        for await (const batch of batchesOf(collection, schema.idType)) {
          yield held ? batch.map((record) => held(record).record) : batch
        }
      },
      async counterparts(records) {
        const values = records.map(idOf)
        const filter = { op: 'in', field: '_id', values } as const
        const found = await collection.find({ filter, sort: [], limit: values.length })
        return new Map(found.map((record) => [idOf(record), record]))
      },
      async insert(record) {
        await collection.insert(record)
      },
      idOf,
      contentOf: (record) => new TextEncoder().encode(canonical(record, schema.shape)),
      ...(foreign && { foreign: () => foreign(schema) }),
      ...(held && look(collection, schema, held)),
    }
  }
}

function look(
  collection: Collection,
  schema: CollectionSchema,
  held: (record: Fields) => HeldRecord,
): Pick<Copyable<Fields>, 'held' | 'lacking'> {
  const required = [...(schema.absence ?? [])].filter(([, absence]) => absence === 'never')
  const lacking = new Set<string>()
  return {
    lacking,
    async *held() {
      for await (const batch of batchesOf(collection, schema.idType)) {
        const all = batch.map(held)
        for (const [field] of required) {
          if (all.some(({ record }) => record[field] === undefined)) lacking.add(field)
        }
        yield { read: batch.length, values: all.flatMap(({ values }) => values) }
      }
    },
  }
}

const idOf = ({ _id }: Fields): string => String(_id)

/** The records whose ids are the model's: another program may have stored other ones. */
async function* batchesOf(collection: Collection, idType: IdType): AsyncGenerator<Fields[]> {
  for await (const batch of batches(collection, idType)) {
    yield batch.filter((record) => idFrom(idOf(record), idType) === record._id)
  }
}

/**
 * JSON with sorted keys: stores may keep the members of objects in another order. A string at the place of a date counts
 * as the date that it is read as elsewhere.
 */
function canonical(value: unknown, shape: Shape | undefined): string {
  if (shape?.kind === 'date' && typeof value === 'string') {
    return shape === DATE_AMONG_OTHERS ? JSON.stringify(value) : canonical(new Date(value), shape)
  }
  if (Array.isArray(value)) {
    return `[${value.map((one, at) => canonical(one, shapeInside(shape, at, one))).join(',')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (value instanceof Date) return JSON.stringify(value)
  // Whatever a driver returns for a type of its own.
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return canonical(value.toJSON(), shape)
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, member]) =>
        `${JSON.stringify(key)}:${canonical(member, shapeInside(shape, key, member))}`,
    )
  return `{${members.join(',')}}`
}

/**
 * The store port: where records live.
 *
 * A store keeps collections of records and speaks the neutral filter. Everything that clients may or may not
 * do is decided before it is asked; a store decides nothing about rights. Each promise below is checked by the
 * contract in src/contract/store.
 *
 * @module
 */

import type { Declared } from './declared.ts'
import type { Filter, Scalar, SortKey } from './filter.ts'
import type { IdType, ObjectShape } from './shape.ts'

/** A record or a part of one: JSON values and Dates; ids are strings. `undefined` members are absent. */
export type Fields = Record<string, unknown>

/** What a store has to know of one collection. */
export interface CollectionSchema {
  /** The collection's or table's name. */
  readonly name: string
  readonly idType: IdType
  /** The whole record's shape, with `_id` and the timestamps. */
  readonly shape: ObjectShape
  /** What the model declares of a record, for `findJson`. Undefined: all that is stored. */
  readonly declared?: Declared
  /**
   * Unique field sets. Sparse: a record in which one of the fields is null or missing clashes with none. Each field
   * leads to one value of one type, never to a list or a `mixed` one.
   */
  readonly unique: readonly (readonly string[])[]
  readonly indexes: readonly (readonly SortKey[])[]
  /** The paths that `contains` is asked of, strings or lists of strings. */
  readonly searchable: readonly string[]
}

/** The part of a record that a read returns; `_id` always comes along. Names may be dotted. */
export type Projection =
  | { readonly include: readonly string[] }
  | { readonly exclude: readonly string[] }

/** A read of several records. */
export interface Read {
  readonly filter: Filter
  /**
   * Empty means no promise about the order. A total order ends with `_id`. Each key leads to one value of one type,
   * never to a list or a `mixed` one, whose values every database orders in its own way.
   */
  readonly sort: readonly SortKey[]
  /**
   * Starts after this position in the sort order: one value for each sort key, null for null or missing.
   * The last sort key must be `_id`.
   */
  readonly after?: readonly Scalar[]
  readonly skip?: number
  readonly limit: number
  readonly select?: Projection
  readonly hints?: ReadHints
}

/** What a read may cost. A store that cannot follow a hint ignores it, but for `timeLimitMs`. */
export interface ReadHints {
  /** A read that takes longer rejects with `StoreTimeout`. */
  readonly timeLimitMs?: number | undefined
  readonly allowDiskUse?: boolean | undefined
  readonly batchSize?: number | undefined
  /** A read that waits rejects with the signal's reason when it aborts, and is not begun; one that runs may end. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A change of one record, applied as one atomic step in the order of the members. Paths may be dotted, but not
 * lead through lists. A field may stand in one member only.
 */
export interface Change {
  /** Replaces whole values. */
  readonly set?: Readonly<Fields>
  /** Removes fields. */
  readonly unset?: readonly string[]
  /** Adds to numbers; a missing or null field counts as 0. */
  readonly increment?: Readonly<Record<string, number>>
  /** Appends to lists; a missing or null list counts as empty. With `cap` only the last `cap` elements stay. */
  readonly push?: Readonly<Record<string, { readonly value: unknown; readonly cap?: number }>>
  /** Removes the elements whose member `key` equals `value` from lists of objects. */
  readonly pull?: Readonly<Record<string, { readonly key: string; readonly value: Scalar }>>
}

/** Conditions of an update or delete beyond its filter. */
export interface WriteOptions {
  /**
   * Compare-and-set: the write happens only if these top-level fields hold exactly these values at the moment
   * of the write, compared deeply; `undefined` means that the field is absent.
   */
  readonly expect?: Readonly<Fields>
}

/** One collection of a store. */
export interface Collection {
  /** The records that match, in order. */
  find(read: Read): Promise<Fields[]>
  /**
   * The same records as JSON texts, `_id` being the first member, for responses that pass them through
   * unparsed: without the members that the schema's `declared` does not declare, whoever has stored them. Dates are ISO 8601 in UTC with milliseconds. Optional: without it the kit uses `find`.
   */
  findJson?(read: Read): Promise<string[]>
  /** How many records match, exactly. */
  count(filter: Filter, hints?: ReadHints): Promise<number>
  /** About how many records there are, cheaply. */
  estimate(): Promise<number>
  /**
   * Stores a record, which has its `_id`. Rejects with `DuplicateKey` and stores nothing when a unique field
   * set or the `_id` is taken. Once resolved the record is durable.
   */
  insert(record: Fields): Promise<void>
  /** Changes one record that matches and resolves to it as it is afterwards, or null when none matches. */
  update(filter: Filter, change: Change, options?: WriteOptions): Promise<Fields | null>
  /** Changes every record that matches, each atomically, and resolves to their number. */
  updateMany(filter: Filter, change: Change): Promise<number>
  /** Removes one record that matches and resolves to it, or null when none matches. */
  delete(filter: Filter, options?: WriteOptions): Promise<Fields | null>
}

/** A store. */
export interface Store {
  /** What it is, for logs: `sqlite`, `mongodb`, `d1`. */
  readonly name: string
  /** False where `matches` cannot be answered safely; `allowRawRegex` is then a start-up error. */
  readonly rawRegex: boolean
  /** Whether an order is served by an index in its very directions alone, which ends with `_id` as it does. */
  readonly exactOrder?: boolean
  /** A handle on a collection; touches nothing. */
  collection(schema: CollectionSchema): Collection
  /**
   * Makes tables, indexes and what search needs exist. May be called again with more or changed schemas.
   * Rejects with `IndexConflict` when existing records violate a unique field set.
   */
  prepare(schemas: readonly CollectionSchema[]): Promise<void>
  /** Waits for writes under way and releases everything. Calling it twice is harmless. */
  close(): Promise<void>
}

/** A unique field set already has the value. */
export class DuplicateKey extends Error {
  override readonly name = 'DuplicateKey'
  readonly fields: readonly string[]
  constructor(fields: readonly string[], options?: ErrorOptions) {
    super(`duplicate value for ${fields.join(', ')}`, options)
    this.fields = fields
  }
}

/** Existing records violate a unique field set that `prepare` was asked to enforce. */
export class IndexConflict extends Error {
  override readonly name = 'IndexConflict'
  readonly collection: string
  readonly fields: readonly string[]
  constructor(collection: string, fields: readonly string[], options?: ErrorOptions) {
    super(
      `'${collection}' already holds records with the same ${fields.join(', ')}; make them differ, or drop it from 'unique'`,
      options,
    )
    this.collection = collection
    this.fields = fields
  }
}

/** A read took longer than its time limit. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout'
}

/** The store cannot be reached or has been closed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** The pattern of a `matches` condition is no valid regular expression. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern'
}

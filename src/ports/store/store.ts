/**
 * The store port: where records live.
 *
 * A store keeps collections of records and understands the neutral filter. What clients may do is decided before the
 * store is called; a store decides nothing about permissions. extras/contract/store tests each promise below.
 */

import type { Surroundings } from '../services/surroundings.ts'
import type { AggregateRead } from './aggregate.ts'
import type { ChangeLog, LoggedModel, NotedChange } from './changes.ts'
import type { Copyable, ForeignBatch, HeldRecord, WriteWatch } from './copying.ts'
import type { Declared } from './declared.ts'
import type { Exclusion } from './exclusion.ts'
import type { Filter, Scalar, SortKey } from './filter.ts'
import type { Fields, Read, ReadHints } from './records.ts'
import type { IdType, ObjectShape } from './shape.ts'

/** What a store needs to know about one collection. */
export interface CollectionSchema {
  /** The collection's or table's name. */
  readonly name: string
  readonly idType: IdType
  /** The table of another program that holds the records. A store that adopts no tables ignores it. */
  readonly adopted?: AdoptedTable
  /** The whole record's shape, with `_id` and the timestamps. */
  readonly shape: ObjectShape
  /** What the model declares of a record, for `findJson`. If undefined, everything stored is returned. */
  readonly declared?: Declared
  /**
   * What the model lets stand for "no value", by top-level field. A field that is not listed may be missing in one record
   * and null in another. Existing records may lack any field.
   */
  readonly absence?: ReadonlyMap<string, Absence>
  /**
   * Sets of fields that must be unique. Sparse: a record in which one of the fields is null or missing never clashes.
   * Each field leads to one value of one type, never to a list or a `mixed` value.
   */
  readonly unique: readonly (readonly string[])[]
  /** Those of the unique sets that are compared otherwise than exactly; only a store that `collates` gets any. */
  readonly collations?: readonly Collated[]
  /**
   * Records that exclude each other. Every write makes sure of it with a guard; a store that adopts tables checks that the
   * table keeps it too.
   */
  readonly exclude?: readonly Exclusion[]
  /** Only for a store of documents that another program versions: the member that counts their versions. */
  readonly version?: VersionKey
  readonly indexes: readonly (readonly SortKey[])[]
  /** The paths that `contains` is used on: strings or lists of strings. */
  readonly searchable: readonly string[]
  /** The paths in `unique` and `indexes` that lead to strings of any length. */
  readonly unbounded?: readonly string[]
  /** Fields that hold lists, by whose elements clients filter; a store may have an index of them. */
  readonly lists?: readonly string[]
  /** If `write` notes what it does to the records: only for a store with `changes`. Other writes are not noted. */
  readonly logged?: LoggedModel
}

/**
 * A member in which Mongoose counts the versions of a document, from 0. A write that changes a list counts one up, because
 * Mongoose writes to lists by position; with `always` every write does. No record has the member.
 */
export interface VersionKey {
  readonly key: string
  readonly always: boolean
}

/** A unique set whose strings are compared by a collation of MongoDB, as `{ locale: 'en', strength: 2 }`. */
export interface Collated {
  readonly fields: readonly string[]
  readonly collation: { readonly locale: string; readonly [option: string]: unknown }
}

/** A table that the store did not create, and never alters. */
export interface AdoptedTable {
  readonly name: string
  /** The names of columns that differ from those of their fields. */
  readonly columns: Readonly<Record<string, string>>
}

/** How a record may lack a field: `never` if it is required, else only by being `missing`, or only by being `null`. */
export type Absence = 'never' | 'missing' | 'null'

/**
 * A change of one record, applied as one atomic step in the order of the members. Paths may be dotted, but must not
 * lead through lists. A field may appear in one member only.
 */
export interface Change {
  /** Replaces whole values. */
  readonly set?: Readonly<Fields>
  /** Removes fields. */
  readonly unset?: readonly string[]
  /** Adds to numbers; a missing or null field counts as 0. */
  readonly increment?: Readonly<Record<string, number>>
  /** Appends to lists; a missing or null list counts as empty. With `cap`, only the last `cap` elements stay. */
  readonly push?: Readonly<Record<string, { readonly value: unknown; readonly cap?: number }>>
  /** Removes the elements whose member `key` equals `value` from lists of objects. */
  readonly pull?: Readonly<Record<string, { readonly key: string; readonly value: Scalar }>>
}

/** Conditions of an update or delete beyond its filter. */
export interface WriteOptions {
  /**
   * Compare-and-set: the write happens only if these top-level fields hold exactly these values at the moment of the
   * write, compared deeply. `undefined` means that the field is absent.
   */
  readonly expect?: Readonly<Fields>
}

/** One collection of a store. */
export interface Collection {
  /**
   * True if reads may have `afterRecord`. Optional: without it, fieldgate reads the record first and then starts after its
   * position.
   */
  readonly seeksRecords?: boolean
  /** True if ids that are integers compare as numbers. Optional: without it, they compare as strings. */
  readonly numericIds?: boolean
  /** The records that match, in order. */
  find(read: Read): Promise<Fields[]>
  /**
   * The same records as JSON strings with `_id` as the first member, for responses that pass them on unparsed. Members
   * that the schema's `declared` does not declare are left out, no matter who stored them. Dates are ISO 8601 in UTC
   * with milliseconds. A store that need not wait for them may return them at once. Optional: without it, fieldgate uses
   * `find`.
   */
  findJson?(read: Read): string[] | Promise<string[]>
  /** The exact number of records that match. */
  count(filter: Filter, hints?: ReadHints): Promise<number>
  /**
   * A row for each group of the records that match: its keys, then its measures, in the order of `sort`. Dates are Dates.
   * Optional: without it, fieldgate reads the records and groups them itself.
   */
  aggregate?(read: AggregateRead): Promise<Scalar[][]>
  /** The approximate number of all records; must be cheap. */
  estimate(): Promise<number>
  /** A new `_id`, if the database makes them. Optional: without it or its result, fieldgate makes them. */
  newId?(): Promise<string | undefined>
  /**
   * Stores a record, which already has its `_id`. Rejects with `DuplicateKey`, and stores nothing, if a unique field
   * set or the `_id` is taken. Once it resolves, the record is durable. If the database may have stored something else,
   * as one whose triggers or defaults make values, it resolves to what is stored.
   */
  insert(record: Fields): Promise<Fields | void>
  /** Changes one matching record and resolves to the changed record, or to null if none matches. */
  update(filter: Filter, change: Change, options?: WriteOptions): Promise<Fields | null>
  /** Changes every matching record, each atomically, and resolves to their number. */
  updateMany(filter: Filter, change: Change): Promise<number>
  /** Removes one matching record and resolves to it, or to null if none matches. */
  delete(filter: Filter, options?: WriteOptions): Promise<Fields | null>
  /**
   * Looks again at the records with these ids. A store that keeps what it knows of a record beside it, for faster reads,
   * may note it anew; the records themselves do not change. Optional.
   */
  refresh?(ids: readonly string[]): Promise<void>
}

/** What one step of `Store.write` does. */
export type WriteAction =
  | { readonly insert: Fields }
  /** Changes one record. */
  | { readonly update: Filter; readonly change: Change; readonly options?: WriteOptions }
  | { readonly updateMany: Filter; readonly change: Change }
  /** Removes one record. */
  | { readonly delete: Filter; readonly options?: WriteOptions }
  | { readonly deleteMany: Filter }
  /**
   * Writes nothing; fails unless a record matches and holds what `options` expect, or with `exists: false`, if one
   * matches. Only a store with `guards` is given `options`.
   */
  | { readonly require: Filter; readonly exists: boolean; readonly options?: WriteOptions }
  /**
   * Writes nothing. Of writes that name the same guard, each sees what those before it did, also those of other
   * processes: so what `exists: false` did not find does not come into being meanwhile. Only for a store with `guards`.
   */
  | { readonly guard: string }

/** One step of `Store.write`, in the collection of the schema `in`; `by` is who does it, for the log of changes. */
export type WriteStep = { readonly in: CollectionSchema; readonly by?: string | null } & WriteAction

/** What one step did. */
export interface StepResult {
  /** The number of records that it wrote. */
  readonly count: number
  /**
   * The changed record of an `update`, the removed records of a `delete` or `deleteMany`, what an `insert` resolves to;
   * else empty.
   */
  readonly records: readonly Fields[]
}

/**
 * The result of each step, and the entries that it has added to the log of changes; or the index of the first step that
 * failed: then nothing was written.
 */
export type WriteOutcome =
  | { readonly results: readonly StepResult[]; readonly noted?: readonly NotedChange[] }
  | { readonly failed: number }

/** What a store may add for copies of its records. Without a member, a copy does what the port allows. */
export interface Copying {
  /**
   * Begins to watch `collections` for writes by any program, this one included. Undefined if the database can't tell
   * of writes.
   */
  watch?(collections: readonly string[]): Promise<WriteWatch | undefined>
  /** Looks for stored values that `find` returns as something else, because records can't hold them. Changes nothing. */
  foreign?(schema: CollectionSchema): AsyncIterable<ForeignBatch>
  /** What two stores have in common that are one place, and no others: a copy of a place onto itself is refused. */
  place?(): Promise<string>
  /** A collection with its records exactly as the database holds them, for a copy into a store of the same name. */
  exact?(schema: CollectionSchema): Copyable<Uint8Array>
  /** Makes of a record what the store would hold of it. Undefined if it holds every record as it is. */
  held?(schema: CollectionSchema): ((record: Fields) => HeldRecord) | undefined
}

/** A store. */
export interface Store {
  /** The store's name in logs: `sqlite`, `mongodb`, `d1`. */
  readonly name: string
  /** False if the store cannot evaluate `matches` safely; `allowRawRegex` is then a start-up error. */
  readonly rawRegex: boolean
  /** True if the store follows the `collations` of a schema. */
  readonly collates?: boolean
  /** True if an index serves a sort only when it has exactly the sort's directions and ends with `_id` as the sort does. */
  readonly exactOrder?: boolean
  /**
   * True if `write` takes a `guard`, and a `require` with `options`. Without it there is no `app.store.atomic`, and no model
   * with `exclude`.
   */
  readonly guards?: boolean
  /** The log of changes, if the store keeps one: `write` adds to it. Only for a store with `guards`. */
  readonly changes?: ChangeLog
  /** What `fieldgate copy` can use beyond this port. */
  readonly copying?: Copying
  /** A handle on a collection. Makes no call to the database. */
  collection(schema: CollectionSchema): Collection
  /**
   * Creates the tables, indexes and search data that are missing. May be called again with more or changed schemas.
   * Rejects with `IndexConflict` if existing records violate a unique field set. Drops, replaces and weakens no index that
   * the store did not create; `warn` gets a sentence about each that the operator should know of. If such an index keeps
   * the store from making a unique field set unique, it rejects with an error that has the command to run.
   *
   * Another version of the app may use the database at the same time, with other schemas: what it needs stays, and
   * searches find what it writes.
   */
  prepare(schemas: readonly CollectionSchema[], warn?: (message: string) => void): Promise<void>
  /**
   * What `prepare` would reject for, because the database holds the collections in another form: a sentence for each, with
   * the command to run. Changes nothing. Optional: for stores whose collections have a form.
   */
  misfits?(schemas: readonly CollectionSchema[]): Promise<readonly string[]>
  /**
   * Drops what only other versions of `schemas` need: indexes and search data that the store has made and that none of
   * `schemas` declares. Versions that declare them must not run. Resolves to what was dropped, each as `LeftOver` says it.
   * Optional: for stores that leave something.
   */
  dropLeftOvers?(schemas: readonly CollectionSchema[]): Promise<readonly LeftOver[]>
  /**
   * What other programs left around the records of a collection, for `fieldgate doctor`. Changes nothing. Optional: for
   * stores of databases that other programs set up.
   */
  surroundings?(schema: CollectionSchema): Promise<Surroundings>
  /**
   * Takes all steps, in order, as one atomic write; each sees what the earlier ones did. It fails, and writes nothing,
   * if an `update` or `delete` finds no record or a `require` does not hold. Errors, e.g. `DuplicateKey`, reject as
   * they do alone, and nothing is written either. No reader sees a part of it.
   *
   * A record that a `require` found is still there when the write is complete, no matter who removes it meanwhile. What
   * `exists: false` did not find may come into being meanwhile, unless whoever stores it also requires or changes a
   * record that this write changes or removes.
   *
   * Optional: a store that has no such step leaves it out. Without steps it writes nothing, and rejects with a
   * `TypeError` if the database, as it is set up, cannot do it.
   */
  write?(steps: readonly WriteStep[]): Promise<WriteOutcome>
  /** Waits for pending writes and releases everything. Calling it twice is harmless. */
  close(): Promise<void>
}

/** Something that a store has made for another version of a model. */
export interface LeftOver {
  readonly collection: string
  /** What it is, with its name in the database: `the unique index 'people unique ["email"]'`. */
  readonly what: string
}

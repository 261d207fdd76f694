/** What a copy of records needs to know beyond reading and writing them: writes meanwhile, and values that don't fit. */

import type { Fields } from './records.ts'

/** Tells of writes. */
export interface WriteWatch {
  /**
   * Whether there may have been a write since the previous call, or since the watch began. If not, everything that was
   * read in between is of one moment.
   */
  written(): Promise<boolean>
  close(): Promise<void>
}

/** A stored value that the copy holds as something else. */
export interface ForeignValue {
  /** The record's id. */
  readonly id: string
  /** Its path; elements of lists have no index in it. */
  readonly field: string
  /** Its type in the database, for example `Decimal128`. */
  readonly type: string
  /** What the copy holds instead, for example `a rounded number`. */
  readonly becomes: string
  /** Whether only a copy changes it: the store's own records hold it as it is. */
  readonly onlyCopied?: boolean
}

/** A record as a target holds it, with what that changes. */
export interface HeldRecord {
  readonly record: Fields
  readonly values: readonly ForeignValue[]
}

/** A stored value that records show as it is, and that nothing finds: the store compares values with one of another type. */
export interface UnmatchedValue {
  /** The record's id. */
  readonly id: string
  /** Its path; elements of lists have no index in it. */
  readonly field: string
  /** Its type in the database, for example `String`. */
  readonly type: string
  /** The type that the store writes there, for example `ObjectId`. */
  readonly wanted: string
}

/** The foreign values of some records. */
export interface ForeignBatch {
  /** How many records have been looked at for this batch. */
  readonly read: number
  readonly values: readonly ForeignValue[]
  readonly unmatched?: readonly UnmatchedValue[]
}

/** A collection as a copy sees it: records with ids, and with content that can be compared. */
export interface Copyable<R> {
  /** The number of all records, those with ids that `batches` doesn't meet included. */
  count(): Promise<number>
  /** All records in the order of their ids, some at a time. Those that are written meanwhile may be missed. */
  batches(): AsyncIterable<readonly R[]>
  /** The records of this collection that have the ids of `records`, by id. */
  counterparts(records: readonly R[]): Promise<ReadonlyMap<string, R>>
  insert(record: R): Promise<void>
  idOf(record: R): string
  /** Equal for records that hold the same. */
  contentOf(record: R): Uint8Array
  /** As in `Copying`. */
  foreign?(): AsyncIterable<ForeignBatch>
  /** The values that the target can't hold as this side does. */
  held?(): AsyncIterable<ForeignBatch>
  /** The fields that are required, and that a record met by `held` lacks. */
  readonly lacking?: ReadonlySet<string>
}

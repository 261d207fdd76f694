/** The port for the log of changes: a store's part that notes what writes did, in the step of each write. */

import type { Fields } from './records.ts'

/**
 * The collection in which consumers keep how far they are, in `position` and `models`. A store whose log gets another epoch
 * in a copy of its database takes them along: they are of the moment of the copy, as the log is.
 */
export const CONSUMERS = 'fieldgate_background'

/** What happened to a record. */
export type ChangeKind = 'created' | 'updated' | 'removed'

/** One entry of the log: what a write did to one record. */
export interface LoggedChange {
  /** Its position: a reader that goes on after it gets what came later. */
  readonly id: string
  /** When it was written, by the clock of the database. */
  readonly at: Date
  /** The model's name. */
  readonly model: string
  readonly kind: ChangeKind
  /** The record before the write; null if it was created. */
  readonly before: Fields | null
  /** The record after the write; null if it was removed. */
  readonly after: Fields | null
  /** Who did it: a user's id, `key:<id>` for an API key, null if nobody was signed in. */
  readonly by: string | null
}

/** Which records of a schema's collection are logged, and for how long. */
export interface LoggedModel {
  /** The name of the model in the entries. */
  readonly model: string
  /** How long entries are kept at least, in milliseconds; Infinity for ever. */
  readonly keepMs: number
}

/** An entry that a write has added. */
export interface NotedChange {
  readonly id: string
  readonly model: string
  /** The record's id. */
  readonly record: string
}

/** The entries after a position, and where to read on; or `gone`, if entries after it may have been dropped. */
export type ReadChanges =
  | { readonly changes: readonly LoggedChange[]; readonly position: string }
  | { readonly gone: true }

/**
 * The log of a store. `write` adds one entry for each record of a schema with `logged` that it creates, changes or
 * removes, in the same atomic step; a record that ends as it was gets none.
 *
 * Positions are strings of letters, digits and `-`. Of two positions of one database, that of the later entry is the
 * greater string.
 */
export interface ChangeLog {
  /** The position of the end: reading after it gives what is written from now on, at least. */
  position(): Promise<string>
  /**
   * At most `limit` entries after a position, of these models or of all, the earliest first. An entry comes as soon as nothing
   * can come before it any more: while other writes are under way, a moment after its own. Reading on after the position
   * that comes with them gives every entry exactly once, by whatever process it was written, and those of one record in
   * the order in which they took effect. Entries of models that `prepare` has not been told of are passed over.
   *
   * Without a position it begins with the oldest entry that is there.
   *
   * `gone`: entries of these models that came after the position may have been dropped, or it is not one of this database:
   * of another one, or of this one before it was restored from a copy. With `lossy`, only the latter: what is left after the
   * position can be read then.
   */
  read(
    after: string | undefined,
    options: {
      readonly limit: number
      readonly models?: readonly string[] | undefined
      readonly lossy?: boolean
    },
  ): Promise<ReadChanges>
  /** At most `limit` entries of one record, the latest first; with `upTo`, that entry and earlier ones. */
  history(
    model: string,
    record: string,
    options: { readonly limit: number; readonly upTo?: string | undefined },
  ): Promise<LoggedChange[]>
  /**
   * Calls `listener` when there may be something new: at once after writes of this process, within a moment after those of
   * others. A hint, which may come late or in vain; who is called while they read must read again. Returns a function that
   * ends it.
   */
  wake(listener: () => void): () => void
}

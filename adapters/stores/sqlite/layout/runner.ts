import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { ReadHints } from '../../../../src/ports/store/records.ts'
import type { Candidates, FoundRows, Search } from './records.ts'
import type { KnownShapes } from './schema-stamps.ts'
import type { Row, SqliteResult, Statement } from './sql.ts'

/** Runs the statements of one collection, in node:sqlite or by calls; its errors are the port's. */
export interface Runner {
  /** The rows of a statement that finds a record by its id; at once, if nothing has to be waited for. */
  quick?(statement: Statement): MaybePromise<readonly Row[]>
  /** The rows of any other; with `isScan` it is one without `deadline`, of which each row takes next to nothing. */
  read(statement: Statement, hints?: ReadHints, isScan?: boolean): MaybePromise<readonly Row[]>
  /** The number that a statement returns as `count`: that of the records which match `filter`. */
  count(statement: Statement, filter: Filter, hints?: ReadHints): Promise<number>
  /** Runs a statement that changes records, atomically; resolves when the change is durable. */
  write(statement: Statement): Promise<SqliteResult>
  /** A condition that ends a read that must not go on. */
  readonly deadline?: string | undefined
  /** The SQL of a read of few rows that match `filter`, without `deadline` if it reads nothing in vain. */
  unchecked?(sql: string, filter: Filter): string
  /** The most bytes that the SQL of a statement may have, if there is a limit. */
  readonly maxBytes?: number
  readonly shapes?: KnownShapes
  /** How to find the rows that contain a string, in a statement for all matches. */
  readonly candidates?: Candidates
  /** What is found first for a read of the first rows in order; undefined if there is no index. */
  found?(searches: readonly Search[], hints?: ReadHints): Promise<FoundRows | undefined>
}

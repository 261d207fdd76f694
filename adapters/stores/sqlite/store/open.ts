/** The SQLite store on `node:sqlite`: one connection that writes and reads, and threads for long reads. */

import { statSync } from 'node:fs'
import type { CollectionSchema, Store } from '../../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { Connection, retryWhileBusy } from '../connection/connection.ts'
import { Counts } from '../connection/counts.ts'
import { addPatterns, checkPatterns, DEADLINE, withoutVainChecks } from '../connection/functions.ts'
import { PACE, type Pace, Reads } from '../connection/paced-reads.ts'
import { borrowedWriter, lendWriter } from '../connection/shared-writer.ts'
import { Writer } from '../connection/writer.ts'
import { isUnusable, portError, throwPortError } from '../layout/errors.ts'
import type { Runner } from '../layout/runner.ts'
import type { Migration, RunAll, SqliteResult, Statement } from '../layout/sql.ts'
import { SearchIndexes } from '../search/search-indexes.ts'
import { dropAll, prepareAll } from './prepare.ts'
import { storeOver, watchWrites } from './store.ts'

/** The store in a file. Throws if it cannot be opened. */
export function openStore(path: string, pace: Pace = PACE): Store {
  const connection = new Connection(path)
  addPatterns(connection.db)
  const reads = new Reads(connection, pace)
  const writer = new Writer(connection)
  const search = new SearchIndexes(connection)
  const counts = new Counts(reads)
  let closed = false
  const writeHere = batchWriter(writer, counts, search)
  let write = writeHere
  let unlend = () => {}
  const parts: Parts = { reads, search, counts, write: (statements) => write(statements) }

  return storeOver({
    name: 'sqlite',
    title: 'SQLite',
    rawRegex: true,
    runnerOf: (schema) => runnerOver(parts, schema),
    read: (statement) => reads.rows(statement),
    deadline: DEADLINE,
    async write(statements) {
      await checkPatterns(...statements)
      return write(statements)
    },
    copying: {
      watch: () => watchWrites((statement) => retryWhileBusy(() => connection.rows(statement))),
      place: async () => placeOf(connection.file),
    },
    async prepare(schemas) {
      await connection.ready().catch(throwPortError)
      await writer.drained()
      const borrowed = await borrowedWriter(connection.file)
      if (borrowed) {
        search.leave()
        write = borrowed
      }
      unlend = lendWriter(connection.file, writeHere)
      const found = await retryWhileBusy(() =>
        migrateNow(connection, () => prepareAll(schemas, search.available)),
      ).catch(throwPortError)
      search.prepared(schemas)
      return found
    },
    async dropLeftOvers(schemas) {
      await writer.drained()
      const drop = () => migrateNow(connection, () => dropAll(schemas, search.available))
      return retryWhileBusy(drop).catch(throwPortError)
    },
    async close() {
      if (closed) return
      closed = true
      write = async () => {
        throw new StoreUnavailable('the store has been closed')
      }
      unlend()
      await writer.drained()
      await reads.close()
      search.leave()
      connection.close()
    },
  })
}

/**
 * The result of the migration that `begin` begins: all of it happens, or nothing. One that has only looked so far takes no
 * lock: if there is more to do, it begins again in a transaction.
 */
function migrateNow<Result>(connection: Connection, begin: () => Migration<Result>): Result {
  const rows = (statements: readonly Statement[]) =>
    connection.asOne(() => statements.map((one) => connection.rows(one)))
  const looking = begin()
  const look = looking.next()
  const looked = look.done ? look : looking.next(rows(look.value))
  if (looked.done) return looked.value
  return connection.transaction(() => {
    const migration = begin()
    for (let step = migration.next(); ; ) {
      if (step.done) return step.value
      try {
        step = migration.next(rows(step.value))
      } catch (error) {
        // The transaction may have ended.
        if (isUnusable(error)) throw error
        step = migration.throw(error)
      }
    }
  })
}

/** A file by its number on its disk: links and other spellings of its path lead to it too. */
function placeOf(file: string | undefined): string {
  if (file === undefined) return crypto.randomUUID()
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev} ${ino}`
}

interface Parts {
  readonly reads: Reads
  readonly search: SearchIndexes
  readonly counts: Counts
  readonly write: RunAll
}

function runnerOver(parts: Parts, schema: CollectionSchema): Omit<Runner, 'deadline' | 'shapes'> {
  const { reads, search, counts, write } = parts
  return {
    unchecked: (sql, filter) => withoutVainChecks(sql, filter, (free) => reads.planOf(free)),
    quick: (statement) => reads.quick(statement),
    read: (statement, hints, isScan) =>
      reads.rows(statement, hints, isScan ? schema.name : undefined),
    count: (statement, filter, hints = {}) => counts.of(schema, filter, statement, hints),
    async write(statement) {
      try {
        // Waits for nothing without need, so that writes happen in the order of the calls.
        if (statement.patterns) await checkPatterns(statement)
        const [written] = await write([{ to: schema.name, ...statement }])
        return written ?? { rows: [], changes: 0 }
      } catch (error) {
        throw portError(error, schema)
      }
    },
    candidates: search.candidates(schema),
    found: (searches, hints) =>
      search.found(schema, searches, (statement) => reads.rows(statement, hints)),
  }
}

/** What runs writes on this connection, and notes them when they are committed, before anything else runs. */
function batchWriter(writer: Writer, counts: Counts, search: SearchIndexes): RunAll {
  const note = (to: string, statement: Statement, written: SqliteResult) => {
    const kept = counts.kept.get(to)
    if (kept) counts.written(kept, statement, written)
    const index = search.byCollection.get(to)
    if (index) search.changed(index, written.changes)
  }
  return (statements) =>
    writer.write(statements, (results) => {
      for (const [at, written] of results.entries()) {
        const statement = statements[at]
        if (statement?.to !== undefined) note(statement.to, statement, written)
      }
    })
}

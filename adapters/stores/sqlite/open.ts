/**
 * The SQLite store on `node:sqlite`: one connection that writes and reads, and threads for long reads.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { type CollectionSchema, type Store, StoreUnavailable } from '../../../src/ports/store.ts'
import { openLog } from './changes/log.ts'
import { dropOld } from './changes/log-tables.ts'
import { retryWhileBusy } from './connection/busy-retry.ts'
import { Connection } from './connection/connection.ts'
import { Counts } from './connection/counts.ts'
import {
  addPatterns,
  checkPatterns,
  checkPatternsOf,
  DEADLINE,
  withoutVainChecks,
} from './connection/functions.ts'
import { PACE, type Pace, Reads } from './connection/paced-reads.ts'
import { borrowedWriter, lendWriter, type RunBatch } from './connection/shared-writer.ts'
import { watchWrites } from './connection/watch.ts'
import { Writer } from './connection/writer.ts'
import { portError } from './layout/errors.ts'
import type { Runner } from './layout/runner.ts'
import type { KnownShapes, Shapes } from './layout/schema-stamps.ts'
import { dropLeftOvers, prepareShapes, prepareTables } from './prepare.ts'
import { warningsOf } from './schema/steps-to.ts'
import { SearchIndexes } from './search/search-indexes.ts'
import { openCollection } from './statements/collection.ts'
import { stepWriter } from './statements/steps.ts'

/** The store in a file. Throws if it cannot be opened. */
export function openStore(path: string, pace: Pace = PACE): Store {
  const connection = new Connection(path)
  addPatterns(connection.db)
  const reads = new Reads(connection, pace)
  const writer = new Writer(connection)
  const search = new SearchIndexes(connection)
  const counts = new Counts((statement) => reads.quick(statement))
  const shapes: { all: Shapes } = { all: new Map() }
  const log = openLog((statement) => reads.rows(statement))
  let closed = false
  const writeHere = batchWriter(writer, counts, search)
  let write = writeHere
  let unlend = () => {}

  const parts: Parts = {
    reads,
    search,
    counts,
    shapes,
    write: (batch) => write(batch),
  }
  const runnerOf = (schema: CollectionSchema): Runner => runnerOver(parts, schema)

  return {
    name: 'sqlite',
    rawRegex: true,
    guards: true,
    collection: (schema) => openCollection(schema, runnerOf(schema)),
    changes: log,
    write: stepWriter(runnerOf, log, async (collections, statements) => {
      await checkPatternsOf(statements)
      return write({ statements, collections })
    }),
    copying: copyingOf(connection),
    async prepare(schemas, warn = () => {}) {
      await connection.ready()
      await writer.drained()
      const borrowed = await borrowedWriter(connection.file)
      if (borrowed) {
        search.leave()
        write = borrowed
      }
      unlend = lendWriter(connection.file, writeHere)
      const existing = await retryWhileBusy(() =>
        prepareTables(connection, schemas, search.available),
      )
      shapes.all = await retryWhileBusy(() => prepareShapes(connection, schemas))
      search.prepared(schemas)
      log.prepared(schemas)
      const old = log.logged.flatMap(dropOld)
      if (old.length > 0) await write({ statements: old, collections: [] })
      for (const message of warningsOf('SQLite', schemas, existing)) warn(message)
    },
    async dropLeftOvers(schemas) {
      await writer.drained()
      return retryWhileBusy(() => dropLeftOvers(connection, schemas, search.available))
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
      search.close()
      connection.close()
    },
  }
}

function copyingOf(connection: Connection): NonNullable<Store['copying']> {
  return {
    watch: () => watchWrites((statement) => retryWhileBusy(() => connection.rows(statement))),
    place: async () => placeOf(connection.file),
  }
}

/** A file by its number on its disk: links and other spellings of its path lead to it too. */
function placeOf(file: string | undefined): string {
  if (file === undefined) return crypto.randomUUID()
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev} ${ino}`
}

/** What the collections of one database share. */
interface Parts {
  readonly reads: Reads
  readonly search: SearchIndexes
  readonly counts: Counts
  readonly shapes: KnownShapes
  readonly write: RunBatch
}

function runnerOver(parts: Parts, schema: CollectionSchema): Runner {
  const { reads, search, counts, shapes, write } = parts
  return {
    deadline: DEADLINE,
    withoutVainChecks: (sql) => withoutVainChecks(sql, (free) => reads.planOf(free)),
    shapes,
    quick: (statement) => reads.quick(statement),
    read: (statement, hints) => reads.rows(statement, hints),
    scan: (statement, hints) => reads.rows(statement, hints, schema.name),
    async count(statement, filter, hints = {}) {
      const count = async () => {
        const [row] = await reads.rows(statement, hints, schema.name)
        return Number(row?.count)
      }
      return counts.of(schema, { filter, statement, hints, count })
    },
    async write(statement) {
      try {
        // Waits for nothing without need, so that writes happen in the order of the calls.
        if (statement.patterns) await checkPatterns(statement.patterns)
        const [written] = await write({ statements: [statement], collections: [schema.name] })
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
function batchWriter(writer: Writer, counts: Counts, search: SearchIndexes): RunBatch {
  return ({ statements, collections }) =>
    writer.write(statements, (results) => {
      for (const [at, written] of results.entries()) {
        const [collection, statement] = [collections[at], statements[at]]
        if (collection === undefined || !statement) continue
        counts.written(collection, statement, written)
        search.changed(collection, written.changes)
      }
    })
}

/**
 * The SQLite store over `node:sqlite`, on Node, Deno and Bun: a file and nothing to install. Take it while one
 * machine is enough.
 *
 * @module
 */

import {
  type CollectionSchema,
  type ReadHints,
  type Store,
  StoreUnavailable,
} from '../../../src/ports/store.ts'
import { openCollection, type Row } from './collection.ts'
import { Connection } from './connection.ts'
import { Counts } from './counts.ts'
import { portError } from './errors.ts'
import { addClock, addPatterns, checkPatterns, DEADLINE } from './functions.ts'
import type { Shapes } from './marks.ts'
import { patiently } from './patience.ts'
import { SearchIndexes } from './search-indexes.ts'
import type { Statement } from './sql.ts'
import { prepareShapes, prepareTables } from './tables.ts'
import { Writer } from './writer.ts'

/** Where the database is. */
export interface SqliteOptions {
  /** The file's path; its folder must exist. Default: `:memory:`, which is gone with the process. */
  readonly path?: string
}

/**
 * A store in one SQLite file, which several processes of a machine may share. A write is answered when it is on the
 * disk; writes that come together share a transaction. Throws when the file cannot be opened.
 */
export function sqliteStore({ path = ':memory:' }: SqliteOptions = {}): Store {
  const connection = new Connection(path)
  const clock = addClock(connection.db)
  addPatterns(connection.db)
  const writer = new Writer(connection)
  const search = new SearchIndexes(connection)
  const counts = new Counts(connection)
  let shapes: Shapes = new Map()
  let closed = false

  function checkOpen(): void {
    if (closed) throw new StoreUnavailable('the store has been closed')
  }

  async function ported<T>(
    schema: CollectionSchema,
    { patterns }: Statement,
    work: () => T | Promise<T>,
  ): Promise<T> {
    checkOpen()
    // Nothing is awaited without need, so that writes happen in the order in which they are asked for.
    if (patterns) await checkPatterns(patterns)
    try {
      return await work()
    } catch (error) {
      throw portError(error, schema)
    }
  }

  /** As `ported`, for what is asked while a statement is made. */
  function portedNow<T>(schema: CollectionSchema, work: () => T): T {
    checkOpen()
    try {
      return work()
    } catch (error) {
      throw portError(error, schema)
    }
  }

  function rows(statement: Statement, { timeLimitMs }: ReadHints = {}): readonly Row[] {
    if (timeLimitMs === undefined) return connection.rows(statement)
    return clock.within(timeLimitMs, () => connection.rows(statement))
  }

  return {
    name: 'sqlite',
    rawRegex: true,
    collection: (schema) =>
      openCollection(schema, {
        deadline: DEADLINE,
        shapes: () => shapes,
        read: (statement, hints) =>
          ported(schema, statement, () => patiently(() => rows(statement, hints))),
        count: (statement, hints) =>
          ported(schema, statement, () =>
            patiently(() =>
              counts.of(schema.name, statement, () => Number(rows(statement, hints)[0]?.count)),
            ),
          ),
        write: (statement) =>
          ported(schema, statement, async () => {
            const written = await writer.write(statement)
            counts.written(schema.name)
            search.changed(schema, written.changes)
            return written
          }),
        candidates(rows) {
          const found = search.candidates(schema, rows)
          return found && ((...asked) => portedNow(schema, () => found(...asked)))
        },
      }),
    async prepare(schemas) {
      checkOpen()
      await connection.ready()
      await writer.drained()
      await patiently(() => prepareTables(connection, schemas, search.available))
      shapes = await patiently(() => prepareShapes(connection, schemas))
      search.prepared(schemas)
    },
    async close() {
      if (closed) return
      closed = true
      await writer.drained()
      search.close()
      connection.close()
    },
  }
}

/**
 * The SQLite store over `node:sqlite`, on Node, Deno and Bun: a file and nothing to install. Take it while one
 * machine is enough.
 *
 * @module
 */

import type { CollectionSchema, Store } from '../../../src/ports/store.ts'
import { IndexConflict, StoreUnavailable } from '../../../src/ports/store.ts'
import { fill, recordsAfter } from './backfill.ts'
import { openCollection } from './collection.ts'
import { Connection } from './connection.ts'
import { isDuplicate, portError } from './errors.ts'
import { addClock, addPatterns, checkPatterns, DEADLINE } from './functions.ts'
import { COLUMNS_OF, checkNames, INDEXES_OF, isEmpty, type Steps, stepsTo } from './schema.ts'
import type { Shadow } from './shadow.ts'
import type { Statement } from './sql.ts'
import { Writer } from './writer.ts'

/** Where the database is. */
export interface SqliteOptions {
  /** The file's path; its folder must exist. Default: `:memory:`, which is gone with the process. */
  readonly path?: string
}

/**
 * A store in one SQLite file, which several processes of a machine may share. A write is answered when it is on the
 * disk; writes of one turn of the event loop share a transaction. Throws when the file cannot be opened.
 */
export function sqliteStore({ path = ':memory:' }: SqliteOptions = {}): Store {
  const connection = new Connection(path)
  const clock = addClock(connection.db)
  addPatterns(connection.db)
  const writer = new Writer(connection)
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

  function stepsOf(schema: CollectionSchema): Steps {
    const values = [schema.name]
    const columns = connection.rows({ sql: COLUMNS_OF, values })
    const indexes = connection.rows({ sql: INDEXES_OF, values })
    return stepsTo(schema, {
      columns: columns.map(({ name }) => String(name)),
      indexes: new Map(indexes.map(({ name, sql }) => [String(name), String(sql)])),
    })
  }

  function take(schema: CollectionSchema, steps: Steps): void {
    for (const sql of steps.columns) connection.db.exec(sql)
    if (steps.backfill.length > 0) backfill(connection, schema, steps.backfill)
    for (const sql of steps.drops) connection.db.exec(sql)
    for (const { sql, fields } of steps.uniques) {
      try {
        connection.db.exec(sql)
      } catch (error) {
        if (!isDuplicate(error)) throw error
        throw new IndexConflict(schema.name, fields, { cause: error })
      }
    }
    for (const sql of steps.indexes) connection.db.exec(sql)
  }

  return {
    name: 'sqlite',
    rawRegex: true,
    collection: (schema) =>
      openCollection(schema, {
        deadline: DEADLINE,
        read: (statement, { timeLimitMs } = {}) =>
          ported(schema, statement, () => {
            if (timeLimitMs === undefined) return connection.rows(statement)
            return clock.within(timeLimitMs, () => connection.rows(statement))
          }),
        write: (statement) => ported(schema, statement, () => writer.write(statement)),
      }),
    async prepare(schemas) {
      checkOpen()
      checkNames(schemas)
      writer.flush()
      // A start that finds everything in place takes no lock.
      if (schemas.every((schema) => isEmpty(stepsOf(schema)))) return
      connection.transaction(() => {
        for (const schema of schemas) take(schema, stepsOf(schema))
      })
    },
    async close() {
      if (closed) return
      writer.flush()
      closed = true
      connection.close()
    },
  }
}

const PAGE = 1000

/** Fills new shadows, in the transaction that has added their columns. */
function backfill(
  connection: Connection,
  { name }: CollectionSchema,
  shadows: readonly Shadow[],
): void {
  let last = 0
  for (;;) {
    const rows = connection.rows(recordsAfter(name, last, PAGE))
    for (const row of rows) connection.write(fill(name, row, shadows))
    if (rows.length < PAGE) return
    last = Number(rows.at(-1)?.rowid)
  }
}

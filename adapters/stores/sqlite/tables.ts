/**
 * Start-up on node:sqlite: tables and indexes, in one transaction.
 *
 * @module
 */

import { type CollectionSchema, IndexConflict } from '../../../src/ports/store.ts'
import { fill, unfilled } from './backfill.ts'
import type { Connection } from './connection.ts'
import { isDuplicate } from './errors.ts'
import {
  CREATE_SHAPES,
  newShapes,
  noteShapes,
  READ_SHAPES,
  type Shapes,
  shapesIn,
} from './marks.ts'
import { COLUMNS_OF, checkNames, INDEXES_OF, isEmpty, type Steps, stepsTo } from './schema.ts'
import { dropSearch, hasSearch, makeSearch } from './search.ts'
import type { Shadow } from './shadow.ts'

/** Brings every table to its schema, or leaves all as they are. */
export function prepareTables(
  connection: Connection,
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): void {
  checkNames(schemas)
  const isReady = (schema: CollectionSchema): boolean =>
    isEmpty(stepsFor(connection, schema)) && (!fullText || hasSearch(connection, schema))
  // If everything is in place, start-up takes no lock.
  if (schemas.every(isReady)) return
  connection.transaction(() => {
    for (const schema of schemas) {
      const keepsSearch = hasSearch(connection, schema)
      // The index names columns that may be dropped.
      if (!keepsSearch) dropSearch(connection, schema.name, fullText)
      take(connection, schema, stepsFor(connection, schema))
      if (!keepsSearch && fullText) makeSearch(connection, schema)
    }
  })
}

/** The shapes that have written to the database, including those of `schemas`. */
export function prepareShapes(
  connection: Connection,
  schemas: readonly CollectionSchema[],
): Shapes {
  const isThere = connection.rows({ sql: COLUMNS_OF, values: ['fieldgate shapes'] }).length > 0
  const read = () => shapesIn(connection.rows({ sql: READ_SHAPES, values: [] }))
  const known = isThere ? read() : new Map()
  const added = newShapes(schemas, known)
  if (added.size === 0) return known
  connection.transaction(() => {
    connection.db.exec(CREATE_SHAPES)
    connection.write(noteShapes(added))
  })
  return read()
}

function stepsFor(connection: Connection, schema: CollectionSchema): Steps {
  const values = [schema.name]
  const columns = connection.rows({ sql: COLUMNS_OF, values })
  const indexes = connection.rows({ sql: INDEXES_OF, values })
  return stepsTo(schema, {
    columns: columns.map(({ name }) => String(name)),
    indexes: new Map(indexes.map(({ name, sql }) => [String(name), String(sql)])),
  })
}

function take(connection: Connection, schema: CollectionSchema, steps: Steps): void {
  for (const sql of steps.columns) connection.db.exec(sql)
  backfill(connection, schema.name, steps.backfill)
  for (const sql of steps.replaced) connection.db.exec(sql)
  for (const { sql, fields } of steps.indexes) {
    try {
      connection.db.exec(sql)
    } catch (error) {
      if (!fields || !isDuplicate(error)) throw error
      throw new IndexConflict(schema.name, fields, { cause: error })
    }
  }
  for (const sql of steps.drops) connection.db.exec(sql)
}

const PAGE = 1000

function backfill(connection: Connection, table: string, shadows: readonly Shadow[]): void {
  if (shadows.length === 0) return
  for (let after = 0; ; ) {
    const rows = connection.rows(unfilled(table, shadows, after, PAGE))
    if (rows.length === 0) return
    connection.write(fill(table, shadows, rows))
    after = Number(rows.at(-1)?.rowid)
  }
}

/**
 * Start-up on node:sqlite: tables and indexes, in one transaction.
 *
 * @module
 */

import { type CollectionSchema, IndexConflict, type LeftOver } from '../../../src/ports/store.ts'
import type { Connection } from './connection/connection.ts'
import { isDuplicate, isUnusable } from './layout/errors.ts'
import {
  CREATE_SHAPES,
  FIND_SHAPES,
  newShapes,
  noteShapes,
  READ_SHAPES,
  type Shapes,
  shapesIn,
} from './layout/schema-stamps.ts'
import { type Shadow, shadowsOf } from './layout/shadows.ts'
import {
  checkNames,
  columnsOf,
  type Drop,
  dropsOf,
  type Existing,
  existingIn,
  isEmpty,
  leftOversIn,
  OBJECTS,
  type Steps,
  stepsTo,
} from './schema/steps-to.ts'
import { fill, lackingOf, probeFor, someUnfilled, unfilled } from './search/backfill.ts'
import { hasSearch, makeSearch, searchDropsOf } from './search/full-text.ts'

/** Brings every table to its schema, or leaves all as they are. Returns what there was before. */
export function prepareTables(
  connection: Connection,
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): Existing {
  checkNames(schemas)
  const isReady = (schema: CollectionSchema, existing: Existing): boolean =>
    isEmpty(stepsTo(schema, existing)) &&
    (!fullText || hasSearch(existing, schema)) &&
    !isLacking(connection, schema)
  const before = existingFor(connection, schemas)
  // If everything is in place, start-up takes no lock.
  if (schemas.every((schema) => isReady(schema, before))) return before
  connection.transaction(() => {
    for (const schema of schemas) {
      // Two collections may share a table.
      const existing = existingFor(connection, [schema])
      take(connection, schema, stepsTo(schema, existing))
      fillLacking(connection, schema)
      if (fullText && !hasSearch(existing, schema)) makeSearch(connection, existing, schema)
    }
  })
  return before
}

/** Drops what only other versions of `schemas` need; all of it, or nothing. */
export function dropLeftOvers(
  connection: Connection,
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): LeftOver[] {
  return connection.transaction(() => {
    const existing = existingFor(connection, schemas)
    return schemas.flatMap((schema) => {
      // The search indexes name columns.
      const drops = [...searchDropsOf(existing, schema, fullText), ...dropsOf(schema, existing)]
      return leftOversIn(
        schema,
        drops.filter((drop) => dropped(connection, drop)),
      )
    })
  })
}

/** Whether it could be dropped. */
function dropped(connection: Connection, { sql, mayFail }: Drop): boolean {
  try {
    connection.asOne(() => connection.db.exec(sql))
    return true
  } catch (error) {
    if (!mayFail || isUnusable(error)) throw error
    return false
  }
}

/** What the database knows of the tables of `schemas`. */
function existingFor(connection: Connection, schemas: readonly CollectionSchema[]): Existing {
  return existingIn(connection.rows(columnsOf(schemas)), connection.rows(OBJECTS))
}

/** The shapes that have written to the database, including those of `schemas`. */
export function prepareShapes(
  connection: Connection,
  schemas: readonly CollectionSchema[],
): Shapes {
  const isThere = connection.rows(FIND_SHAPES).length > 0
  const read = () => shapesIn(connection.rows(READ_SHAPES))
  const known = isThere ? read() : new Map()
  const added = newShapes(schemas, known)
  if (added.size === 0) return known
  connection.transaction(() => {
    connection.write(CREATE_SHAPES)
    connection.write(noteShapes(added))
  })
  return read()
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
}

/** Whether another version of the app has left out what this one searches. */
function isLacking(connection: Connection, schema: CollectionSchema): boolean {
  const shadows = [...shadowsOf(schema).values()]
  if (shadows.length === 0) return false
  return lackingOf(shadows, connection.rows(probeFor(schema.name, shadows))).length > 0
}

function fillLacking(connection: Connection, schema: CollectionSchema): void {
  for (const shadow of shadowsOf(schema).values()) {
    for (let filled = 1; filled > 0; ) {
      const rows = connection.rows(someUnfilled(schema.name, shadow, PAGE))
      filled = connection.write(fill(schema.name, [shadow], rows)).changes
    }
  }
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

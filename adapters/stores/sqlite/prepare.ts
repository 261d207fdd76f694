/**
 * Start-up on node:sqlite: tables and indexes, in one transaction.
 *
 * @module
 */

import type { CollectionSchema, LeftOver } from '../../../src/ports/store.ts'
import { newEpoch } from '../changes/position.ts'
import { createLog, hasLog } from './changes/log-tables.ts'
import type { Connection } from './connection/connection.ts'
import {
  CREATE_SHAPES,
  FIND_SHAPES,
  newShapes,
  noteShapes,
  READ_SHAPES,
  type Shapes,
  shapesIn,
} from './layout/schema-stamps.ts'
import { shadowsOf } from './layout/shadows.ts'
import { type Migration, takeDrops, takeSteps } from './schema/migration.ts'
import {
  checkNames,
  columnsOf,
  dropsOf,
  type Existing,
  existingIn,
  isEmpty,
  leftOversIn,
  OBJECTS,
  type Steps,
  stepsTo,
} from './schema/steps-to.ts'
import { lackingOf, probeFor } from './search/filling.ts'
import { hasSearch, makeSearch, searchDropsOf } from './search/full-text.ts'

/** Brings every table to its schema, or leaves all as they are. Returns what there was before. */
export function prepareTables(
  connection: Connection,
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): Existing {
  checkNames(schemas)
  const isReady = (schema: CollectionSchema, existing: Existing): boolean =>
    isEmpty(stepsFor(connection, schema, existing)) && (!fullText || hasSearch(existing, schema))
  const before = existingFor(connection, schemas)
  // If everything is in place, start-up takes no lock.
  const isLogReady = hasLog(schemas, before.made)
  if (isLogReady && schemas.every((schema) => isReady(schema, before))) return before
  connection.transaction(() => {
    if (!isLogReady) for (const one of createLog(newEpoch())) connection.write(one)
    for (const schema of schemas) {
      // Two collections may share a table.
      const existing = existingFor(connection, [schema])
      migrate(connection, takeSteps(schema, stepsFor(connection, schema, existing)))
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
      return leftOversIn(schema, migrate(connection, takeDrops(drops)))
    })
  })
}

/** The steps to `schema`, with what another version of the app has left out of the shadows that it searches. */
function stepsFor(connection: Connection, schema: CollectionSchema, existing: Existing): Steps {
  const steps = stepsTo(schema, existing)
  const known = [...shadowsOf(schema).values()].filter(({ name }) =>
    steps.backfill.every((one) => one.name !== name),
  )
  if (known.length === 0 || steps.columns.length > 0) return steps
  const lacking = lackingOf(known, connection.rows(probeFor(schema.name, known)))
  return { ...steps, backfill: [...steps.backfill, ...lacking] }
}

/** The result of a migration, in which a statement that fails changes nothing. */
function migrate<Result>(connection: Connection, migration: Migration<Result>): Result {
  for (let step = migration.next(); ; ) {
    if (step.done) return step.value
    const statements = step.value
    try {
      const rows = connection.asOne(() => statements.map((one) => connection.rows(one)))
      step = migration.next(rows.at(-1) ?? [])
    } catch (error) {
      step = migration.throw(error)
    }
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

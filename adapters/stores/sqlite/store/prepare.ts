/** Start-up: brings the tables of a database to what the models need. */

import type { CollectionSchema, LeftOver } from '../../../../src/ports/store/store.ts'
import { IndexConflict } from '../../../../src/ports/store/store-errors.ts'
import { newEpoch } from '../../changes/position.ts'
import { createLog, DROPPED } from '../changes/log.ts'
import { isUnusable } from '../layout/errors.ts'
import {
  CREATE_SHAPES,
  newShapes,
  noteShapes,
  READ_SHAPES,
  type Shapes,
  shapesIn,
} from '../layout/schema-stamps.ts'
import { type Migration, type Row, statement } from '../layout/sql.ts'
import {
  columnsOf,
  type Drop,
  dropsOf,
  type Existing,
  existingIn,
  OBJECTS,
  stepsTo,
} from '../schema/steps-to.ts'
import { fillAll } from '../search/filling.ts'
import { searchDropsOf, searchStepsTo } from '../search/full-text.ts'

export interface Found {
  readonly existing: Existing
  readonly shapes: Shapes
}

/**
 * Reads all of it in one round trip: a Worker that starts has no more queries than that, however many models there are. It
 * changes nothing, once the table of the shapes is there.
 */
function* findIn(schemas: readonly CollectionSchema[]): Migration<Found> {
  const none: readonly Row[] = []
  const answers = yield [columnsOf(schemas), OBJECTS, CREATE_SHAPES, READ_SHAPES]
  const [columns = none, objects = none, , shapes = none] = answers
  return { existing: existingIn(columns, objects), shapes: shapesIn(shapes) }
}

/**
 * Brings every table to its schema; with `fullText`, the search indexes too. Returns what there was before, and the shapes with
 * those of `schemas`. If nothing is to be done, it takes one step.
 */
export function* prepareAll(
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): Migration<Found> {
  const { existing, shapes } = yield* findIn(schemas)
  const hasLog = existing.made.has(DROPPED)
  if (!hasLog && schemas.some(({ logged }) => logged)) yield createLog(newEpoch())
  for (const schema of schemas) yield* prepareTable(schema, existing, fullText)
  const added = newShapes(schemas, shapes)
  if (added.size > 0) yield [noteShapes(added)]
  return { existing, shapes: new Map([...shapes, ...added]) }
}

/** Another Worker may be taking the same steps: then the current state is read again. */
const MAX_TRIES = 5

function* prepareTable(
  schema: CollectionSchema,
  before: Existing,
  fullText: boolean,
): Migration<void> {
  let existing = before
  for (let tries = 1; ; tries += 1) {
    try {
      // What an interrupted start leaves out is filled by the first search.
      yield* fillAll(schema.name, yield* stepsTo(schema, existing))
      if (fullText) for (const sql of searchStepsTo(schema, existing)) yield [statement(sql)]
      return
    } catch (error) {
      if (error instanceof IndexConflict || tries === MAX_TRIES) throw error
    }
    existing = (yield* findIn([schema])).existing
  }
}

/** Drops what only other versions of `schemas` need. */
export function* dropAll(
  schemas: readonly CollectionSchema[],
  fullText: boolean,
): Migration<LeftOver[]> {
  const { existing } = yield* findIn(schemas)
  const left: LeftOver[] = []
  for (const schema of schemas) {
    // The search indexes name columns.
    const drops = [...searchDropsOf(existing, schema, fullText), ...dropsOf(schema, existing)]
    left.push(...(yield* takeDrops(schema.name, drops)))
  }
  return left
}

/** Drops what can be dropped, and returns what of it is worth a line. */
function* takeDrops(collection: string, drops: readonly Drop[]): Migration<LeftOver[]> {
  const done: LeftOver[] = []
  for (const { sql, what, mayFail } of drops) {
    try {
      yield [statement(sql)]
      if (what !== undefined) done.push({ collection, what })
    } catch (error) {
      if (!mayFail || isUnusable(error)) throw error
    }
  }
  return done
}

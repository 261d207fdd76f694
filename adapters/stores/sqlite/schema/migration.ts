/**
 * What start-up does to tables, for drivers that wait for their statements and for those that don't.
 *
 * @module
 */

import { type CollectionSchema, IndexConflict } from '../../../../src/ports/store.ts'
import { isDuplicate, isUnusable } from '../layout/errors.ts'
import type { Shadow } from '../layout/shadows.ts'
import type { Row, Statement } from '../layout/sql.ts'
import { fill, inParts, unfilled } from './backfill.ts'
import type { Drop, Steps } from './steps-to.ts'

/** Yields statements that take effect together, and gets the rows of the last one, or its error. */
export type Migration<Result> = Generator<readonly Statement[], Result, readonly Row[]>

/** Brings the table of `schema` to its schema. */
export function* takeSteps({ name }: CollectionSchema, steps: Steps): Migration<void> {
  const { columns, backfill, replaced, indexes } = steps
  if (columns.length > 0) yield columns.map(plain)
  if (backfill.length > 0) yield* fillAll(name, backfill)
  if (replaced.length > 0) yield replaced.map(plain)
  for (const { sql, fields } of indexes) {
    try {
      yield [plain(sql)]
    } catch (error) {
      if (!fields || !isDuplicate(error)) throw error
      throw new IndexConflict(name, fields, { cause: error })
    }
  }
}

/** How many records are filled at once. */
const PAGE = 200

function* fillAll(table: string, shadows: readonly Shadow[]): Migration<void> {
  for (let after = 0; ; ) {
    const rows = yield [unfilled(table, shadows, after, PAGE)]
    if (rows.length === 0) return
    for (const part of inParts(rows)) yield [fill(table, shadows, part)]
    after = Number(rows.at(-1)?.rowid)
  }
}

/** Drops what can be dropped, and returns that. */
export function* takeDrops(drops: readonly Drop[]): Migration<Drop[]> {
  const done: Drop[] = []
  for (const drop of drops) {
    try {
      yield [plain(drop.sql)]
      done.push(drop)
    } catch (error) {
      if (!drop.mayFail || isUnusable(error)) throw error
    }
  }
  return done
}

function plain(sql: string): Statement {
  return { sql, values: [] }
}

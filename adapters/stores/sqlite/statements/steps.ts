/** Several writes as one: each step is a statement, which fails with its number if the step does. */

import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store/store.ts'
import { madeOnce } from '../../../../src/ports/values/once.ts'
import { timesToDrop } from '../../changes/entries.ts'
import { filterOf, take } from '../../planner/steps.ts'
import { dropAll, END_NOTING, noteFor, type OwnLog } from '../changes/log.ts'
import { isDuplicate, isOfTable, portError } from '../layout/errors.ts'
import type { Runner } from '../layout/runner.ts'
import type { RunAll, SqliteResult, Statement } from '../layout/sql.ts'
import { type Opened, openTarget } from './collection.ts'

export function stepWriter(
  runnerOf: (schema: CollectionSchema) => Runner,
  log: OwnLog,
  runAll: RunAll,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  const open = madeOnce((schema: CollectionSchema) => openTarget(schema, runnerOf(schema)))

  function resultOf(step: WriteStep, written: SqliteResult | undefined): StepResult {
    if (!written || 'require' in step || 'guard' in step) return { count: 0, records: [] }
    const { parse } = open(step.in)
    return { count: written.changes, records: written.rows.map(({ doc }) => parse(String(doc))) }
  }

  /** The statement of each step; the step fails with its number. */
  async function statementsOf(steps: readonly WriteStep[]): Promise<Statement[]> {
    const statements: Statement[] = []
    for (const [at, step] of steps.entries()) {
      const known = open(step.in)
      // At once where nothing is searched, so that writes happen in the order of the calls.
      const filling = known.filler.fill(filterOf(step))
      if (filling) await filling
      statements.push(statementOf(step, known, `${FAILED} ${at}`))
    }
    return statements
  }

  return async (steps) => {
    if (steps.length === 0) return { results: [] }
    const { statements, places, end } = noting(steps, await statementsOf(steps), log)
    try {
      const written = await runAll(statements)
      const results = steps.map((step, at) => resultOf(step, written[places[at] ?? at]))
      if (end === undefined) return { results }
      const noted = log.noted(written[end]?.rows[0])
      // One step may have added many. What the write itself did stands.
      const old = dropAll(log, timesToDrop(noted.length - steps.length))
      if (old.length > 0) await runAll(old).catch(() => {})
      return { results, noted }
    } catch (error) {
      const [, failed] = /'fieldgate step (\d+)'/.exec(String(error)) ?? []
      if (failed !== undefined) return { failed: Number(failed) }
      throw portError(error, schemaOf(error, steps))
    }
  }
}

/**
 * `statements` of `steps`, one for each, among those that note what the steps do; the places of the first, and of the one that
 * returns what was noted, if anything is.
 */
function noting(steps: readonly WriteStep[], statements: readonly Statement[], log: OwnLog) {
  const [all, places]: [Statement[], number[]] = [[], []]
  let by: string | null | undefined
  for (const [at, { in: schema, by: next = null }] of steps.entries()) {
    if (schema.logged && next !== by) {
      all.push(noteFor(next, by === undefined))
      by = next
    }
    places.push(all.push(statements[at] as Statement) - 1)
  }
  const end = by === undefined ? undefined : all.push(END_NOTING) - 1
  const old = dropAll(log, end === undefined ? 0 : timesToDrop(steps.length))
  return { statements: [...all, ...old], places, end }
}

const FAILED = 'fieldgate step'

function statementOf(step: WriteStep, { writes }: Opened, failure: string): Statement {
  return take(step, {
    ...writes,
    update: (filter, change, options) => writes.update(filter, change, options, failure),
    delete: (filter, options) => writes.delete(filter, options, failure),
    require: (filter, isThere, options) => writes.require(filter, isThere, failure, options),
    // Every write has the database to itself.
    guard: () => ({ sql: 'SELECT 1', values: [] }),
  })
}

/** The collection whose unique value is taken; any of them for other errors. */
function schemaOf(error: unknown, steps: readonly WriteStep[]): CollectionSchema | undefined {
  const schemas = steps.map((step) => step.in)
  return isDuplicate(error) ? schemas.find((schema) => isOfTable(error, schema)) : schemas[0]
}

/**
 * Several writes as one: each step is a statement, which fails with its number if the step does.
 *
 * @module
 */

import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store.ts'
import { filterOf, take } from '../../planner/steps.ts'
import { isDuplicate, isOfTable, portError } from '../layout/errors.ts'
import type { Runner } from '../layout/runner.ts'
import type { Statement, Written } from '../layout/sql.ts'
import { filledFor, type Opened, openTarget } from './collection.ts'

/** Runs the statements of steps in one transaction: either all take effect or none. */
type RunAll = (
  steps: readonly WriteStep[],
  statements: readonly Statement[],
) => Promise<readonly Written[]>

/** A store's `write`, on top of what runs statements together. */
export function stepWriter(
  runnerOf: (schema: CollectionSchema) => Runner,
  runAll: RunAll,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  const opened = new WeakMap<CollectionSchema, Opened>()

  function open(schema: CollectionSchema): Opened {
    const known = opened.get(schema) ?? openTarget(schema, runnerOf(schema))
    opened.set(schema, known)
    return known
  }

  function resultOf(step: WriteStep, written: Written | undefined): StepResult {
    if (!written || 'require' in step || 'guard' in step) return { count: 0, records: [] }
    const { parse } = open(step.in).target
    return { count: written.changes, records: written.rows.map(({ doc }) => parse(String(doc))) }
  }

  return async (steps) => {
    if (steps.length === 0) return { results: [] }
    const statements: Statement[] = []
    for (const [at, step] of steps.entries()) {
      const known = open(step.in)
      const filling = filledFor(filterOf(step), known)
      if (filling) await filling
      statements.push(statementOf(step, known, `${FAILED} ${at}`))
    }
    try {
      const written = await runAll(steps, statements)
      return { results: steps.map((step, at) => resultOf(step, written[at])) }
    } catch (error) {
      const failed = failedStep(error)
      if (failed !== undefined) return { failed }
      throw portError(error, schemaOf(error, steps))
    }
  }
}

const FAILED = 'fieldgate step'

function failedStep(error: unknown): number | undefined {
  const [, at] = /'fieldgate step (\d+)'/.exec(String(error)) ?? []
  return at === undefined ? undefined : Number(at)
}

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

/**
 * Several writes as one: each step is a statement, which fails with its number if the step does.
 *
 * @module
 */

import { everything, type Filter } from '../../../../src/ports/filter.ts'
import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store.ts'
import { isDuplicate, isOfTable, portError } from '../connection/errors.ts'
import type { Statement, Written } from '../sql.ts'
import { openWrites, type Runner } from './collection.ts'
import type { Writes } from './writes.ts'

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
  const opened = new WeakMap<CollectionSchema, ReturnType<typeof openWrites>>()

  function open(schema: CollectionSchema): ReturnType<typeof openWrites> {
    const known = opened.get(schema) ?? openWrites(schema, runnerOf(schema))
    opened.set(schema, known)
    return known
  }

  async function resultOf(step: WriteStep, written: Written | undefined): Promise<StepResult> {
    if (!written || 'require' in step) return { count: 0, records: [] }
    const { parse } = open(step.in)
    const records = written.rows.map(({ doc }) => parse(doc as string))
    return { count: written.changes, records }
  }

  return async (steps) => {
    if (steps.length === 0) return { results: [] }
    const statements: Statement[] = []
    for (const [at, step] of steps.entries()) {
      const { writes, filledFor } = open(step.in)
      await filledFor(filterOf(step))
      statements.push(await statementOf(step, writes, `${FAILED} ${at}`))
    }
    try {
      const written = await runAll(steps, statements)
      return { results: await Promise.all(steps.map((step, at) => resultOf(step, written[at]))) }
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

function filterOf(step: WriteStep): Filter {
  if ('insert' in step) return everything
  if ('update' in step) return step.update
  if ('updateMany' in step) return step.updateMany
  if ('delete' in step) return step.delete
  return 'deleteMany' in step ? step.deleteMany : step.require
}

function statementOf(
  step: WriteStep,
  writes: Writes,
  failure: string,
): Statement | Promise<Statement> {
  if ('insert' in step) return writes.insert(step.insert)
  if ('update' in step) return writes.update(step.update, step.change, step.options, failure)
  if ('updateMany' in step) return writes.updateMany(step.updateMany, step.change)
  if ('delete' in step) return writes.delete(step.delete, step.options, failure)
  if ('deleteMany' in step) return writes.deleteMany(step.deleteMany)
  return writes.require(step.require, step.exists, failure)
}

/** The collection whose unique value is taken; any of them for other errors. */
function schemaOf(error: unknown, steps: readonly WriteStep[]): CollectionSchema | undefined {
  const schemas = steps.map((step) => step.in)
  return isDuplicate(error) ? schemas.find((schema) => isOfTable(error, schema)) : schemas[0]
}

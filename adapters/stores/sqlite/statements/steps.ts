/** Several writes as one: each step is a statement, which fails with its number if the step does. */

import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store.ts'
import { DROPPING } from '../../changes/entries.ts'
import { filterOf, take } from '../../planner/steps.ts'
import { beginNoting, dropOld, END_NOTING, notedIn, noteFor, type OwnLog } from '../changes/log.ts'
import { isDuplicate, isOfTable, portError } from '../layout/errors.ts'
import type { Runner } from '../layout/runner.ts'
import type { RunAll, Statement, Written } from '../layout/sql.ts'
import { type Opened, openTarget } from './collection.ts'

/** A store's `write`, on top of what runs statements together. */
export function stepWriter(
  runnerOf: (schema: CollectionSchema) => Runner,
  log: OwnLog,
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
      // At once where nothing is searched, so that writes happen in the order of the calls.
      const filling = known.filler.fill(filterOf(step))
      if (filling) await filling
      statements.push(statementOf(step, known, `${FAILED} ${at}`))
    }
    const noting = notingOf(steps, statements, log)
    try {
      const written = await runAll(noting.statements)
      const results = steps.map((step, at) => resultOf(step, written[noting.places[at] ?? at]))
      return { results, ...notedBy(noting, written, log) }
    } catch (error) {
      const failed = failedStep(error)
      if (failed !== undefined) return { failed }
      throw portError(error, schemaOf(error, steps))
    }
  }
}

/** The statements of a write, among them those that note what its steps do. */
interface Noting {
  readonly statements: readonly Statement[]
  /** The place of the statement of each step. */
  readonly places: readonly number[]
  /** The place of the statement that returns what was noted; undefined if nothing is. */
  readonly end?: number
}

/** `statements` of `steps`, one for each, with what notes them. */
function notingOf(
  steps: readonly WriteStep[],
  statements: readonly Statement[],
  { logged }: OwnLog,
): Noting {
  if (!steps.some((step) => step.in.logged)) return { statements, places: [...steps.keys()] }
  const all: Statement[] = []
  const places: number[] = []
  let by: string | null | undefined
  for (const [at, statement] of statements.entries()) {
    const { in: schema, by: next = null } = steps[at] as WriteStep
    if (schema.logged && next !== by) {
      all.push(by === undefined ? beginNoting(next) : noteFor(next))
      by = next
    }
    places.push(all.push(statement) - 1)
  }
  const end = all.push(END_NOTING) - 1
  if (Math.random() < DROPPING * steps.length) all.push(...logged.flatMap(dropOld))
  return { statements: all, places, end }
}

/** What was noted of a write. */
function notedBy({ end = -1 }: Noting, written: readonly Written[], log: OwnLog) {
  if (end < 0) return {}
  const noted = notedIn(written[end]?.rows[0])
  if (noted.length > 0) log.notify()
  return { noted }
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

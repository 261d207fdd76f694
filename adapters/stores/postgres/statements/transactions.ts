/** Several writes as one: a transaction. It is not serializable; locks on rows keep what its steps rely on. */

import { all as allOf, any } from '../../../../src/ports/store/filter.ts'
import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store/store.ts'
import { isNotable, type Noted, notedBy, takeNoted } from '../../changes/noting.ts'
import { filterOf } from '../../planner/steps.ts'
import type { Log } from '../changes/log.ts'
import type { Connection } from '../connection/connection.ts'
import type { Table } from '../layout/columns.ts'
import { isCollision, portError, ported } from '../layout/errors.ts'
import type { Run } from '../layout/rows.ts'
import { insertSql } from './inserts.ts'
import { writesTo } from './writes.ts'

/** A store's `write`; `look` finds the table of a collection. */
export function stepWriter(
  connection: Connection,
  log: Log,
  look: (schema: CollectionSchema) => Promise<Table>,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  const tables = new WeakMap<CollectionSchema, Table>()

  async function located(step: WriteStep): Promise<Located> {
    const table = tables.get(step.in) ?? (await look(step.in))
    tables.set(step.in, table)
    return { step, table }
  }

  return async (steps) => {
    if (steps.length === 0) return { results: [] }
    // Before the transaction, which may hold the only connection.
    const all = await ported(Promise.all(steps.map(located)))
    try {
      const taken = await writeAll(all, connection, log)
      if (taken.noted && taken.noted.length > 0) log.notify(taken.noted.length)
      return taken
    } catch (error) {
      if (error instanceof FailedStep) return { failed: error.at }
      // A constraint that is deferred refuses the commit.
      const written = all.find((one) => 'insert' in one.step || isChange(one))
      throw portError(error, written?.table)
    }
  }
}

function writeAll(all: readonly Located[], connection: Connection, log: Log): Promise<Taken> {
  const [first] = all
  const isInsert = first && all.length === 1 && 'insert' in first.step && isNotable(first.step)
  if (isInsert && log.isPlain && !first.table.isAdopted) {
    return insertAlone(first, log, (statement) => connection.run(statement))
  }
  // Another such write may require what these steps change, and change what they require.
  const meetsOthers = all.some(isPrecise) && all.some(isChange)
  return connection.transaction((run, isAgain) => takeAll(all, log, run, isAgain || meetsOthers))
}

/** Inserts one record, and adds its entry, in one statement. */
async function insertAlone({ step, table }: Located, log: Log, run: Run): Promise<Taken> {
  const record = 'insert' in step ? step.insert : {}
  const result = { count: 1, records: [] }
  const noted = notedBy({ result, records: [[null, record]] }, step, 0)
  return { results: [result], noted: await log.add(noted, run, insertSql(record, table)) }
}

type Taken = Exclude<WriteOutcome, { failed: number }>

interface Located {
  readonly step: WriteStep
  readonly table: Table
}

/**
 * Takes the steps in turn. Writes that meet in opposite orders end each other; after that, and where that is likely, all
 * records are locked first (`locksFirst`), which every write does in the same order.
 */
async function takeAll(
  all: readonly Located[],
  log: Log,
  run: Run,
  locksFirst: boolean,
): Promise<Taken> {
  const results: StepResult[] = []
  const noted: Noted[] = []
  await guardAll(all, run)
  let locked = locksFirst ? await lockAll(all, run) : undefined
  for (const [at, { step, table }] of all.entries()) {
    if (!locked && 'require' in step && !step.exists) locked = await lockAll(all.slice(at + 1), run)
    if ('insert' in step) locked?.get(table)?.push(String(step.insert._id))
    const ids = locked?.get(table)
    const writes = writesTo(step.in, table, run)
    const taken = await takeNoted(ids ? among(step, ids) : step, writes).catch((error: unknown) => {
      throw isCollision(error) ? error : portError(error, table)
    })
    if (!taken) throw new FailedStep(at)
    results.push(taken.result)
    noted.push(...notedBy(taken, step, at))
  }
  if (!all.some(({ step }) => isNotable(step))) return { results }
  return { results, noted: await log.add(noted, run) }
}

/** Waits for the writes with the same guards, in one order. */
async function guardAll(all: readonly Located[], run: Run): Promise<void> {
  const guards = all.flatMap(({ step }) => ('guard' in step ? step.guard : []))
  if (guards.length === 0) return
  const keys = `SELECT DISTINCT hashtextextended(name, 0) AS key FROM json_array_elements_text($1::text::json) AS name ORDER BY key`
  const sql = `SELECT pg_advisory_xact_lock(key) FROM (${keys}) AS keys`
  await run({ sql, values: [JSON.stringify(guards)] })
}

function isPrecise({ step }: Located): boolean {
  return 'require' in step && step.options !== undefined
}

function isChange({ step }: Located): boolean {
  return CHANGES.some((one) => one in step)
}

/** The ids of the records of each table that steps may write. */
type Locked = ReadonlyMap<Table, string[]>

/** Locks the records that steps will write: who changes one has been seen by a `require` that comes now, or waits. */
async function lockAll(all: readonly Located[], run: Run): Promise<Locked> {
  const locked = new Map<Table, string[]>()
  const tables = [...Map.groupBy(all, (one) => one.table)]
  tables.sort(([, [a]], [, [b]]) => ((a?.step.in.name ?? '') < (b?.step.in.name ?? '') ? -1 : 1))
  for (const [table, some] of tables) {
    const filters = some.flatMap((one) =>
      isChange(one) || isPrecise(one) ? filterOf(one.step) : [],
    )
    const [{ step }] = some as [Located]
    const lock = () => writesTo(step.in, table, run).lock(any(filters))
    locked.set(table, filters.length > 0 ? await lock() : [])
  }
  return locked
}

/** `step` for these records alone: one that was created after the lock may have met a `require` of somebody else. */
function among(step: WriteStep, ids: readonly string[]): WriteStep {
  const kind = CHANGES.find((one) => one in step)
  const own = allOf([filterOf(step), { op: 'in', field: '_id', values: ids }])
  return kind ? ({ ...step, [kind]: own } as unknown as WriteStep) : step
}

/** The members of steps that have the filter of what is changed. */
const CHANGES = ['update', 'updateMany', 'delete', 'deleteMany']

/** Ends a transaction whose step with the index `at` failed. */
class FailedStep extends Error {
  readonly at: number
  constructor(at: number) {
    super(`step ${at} failed`)
    this.at = at
  }
}

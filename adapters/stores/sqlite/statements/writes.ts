/** The statements that write to one collection. */

import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type { Change } from '../../../../src/ports/store/store.ts'
import { isWithin, topOf } from '../../../../src/ports/values/paths.ts'
import type { Held } from '../../expecting.ts'
import { textOf } from '../../json-values.ts'
import { changedPaths } from '../../planner/change.ts'
import { namesOne } from '../../planner/seek.ts'
import { every, whereAll } from '../../sql/filter.ts'
import { asText, type Shadow, shadowAt } from '../layout/records.ts'
import { STAMP } from '../layout/schema-stamps.ts'
import { exists, type Parameters, type SqlValue, type Statement } from '../layout/sql.ts'
import { compileChange, compileExpected } from './change.ts'
import { type Compilation, compileFilter, type Target, where } from './filter.ts'
import { changeShape, KeptStatements } from './kept.ts'

/**
 * Returns the statements that write to a table; those that change or remove one record return it. With `failure`, a
 * statement for one record fails if no record matches, with that string in the error's message.
 */
export function writesTo({ schema, table, stamps, shadows, compilation }: Target) {
  const { name: to, searchable } = schema
  /** The one record to write, as a condition on the row. */
  const one = (
    filter: Filter,
    held: Holds,
    failure: string | undefined,
    compiled: Compilation,
  ): string => {
    const { parameters } = compiled
    const conditions = heldBy(filter, held, compiled)
    // By id, as a rule: that is one record at most.
    if (failure === undefined && namesOne(filter)) return whereAll(conditions)
    const row = `(SELECT rowid FROM ${table} WHERE ${every(conditions)} LIMIT 1)`
    if (failure === undefined) return ` WHERE rowid = ${row}`
    return ` WHERE rowid = coalesce(${row}, ${failing(failure, parameters)})`
  }

  const kept = new KeptStatements()

  const updating = (
    change: Change,
    whereIn: (compiled: Compilation) => string,
    returning: string,
    stamp = stamps?.ofChanged(change) ?? 'NULL',
  ): Statement => {
    const compiled = compilation()
    const { shadows, parameters } = compiled
    const changes = compileChange(change, shadows.values(), parameters)
    const sql = `UPDATE ${table} SET ${changes}, ${STAMP} = ${stamp}${whereIn(compiled)}${returning}`
    const effect = { changed: changedPaths(change).map(topOf) }
    return { ...parameters.statement(sql), to, effect }
  }

  const deleting = (whereIn: (compiled: Compilation) => string): Statement => {
    const compiled = compilation()
    const sql = `DELETE FROM ${table}${whereIn(compiled)} RETURNING doc`
    return { ...compiled.parameters.statement(sql), to, effect: { removes: true } }
  }

  return {
    insert(record: Fields): Statement {
      const { sql, values } = rowOf(record, stamps?.ofWhole(record), shadows().values())
      return { sql: `INSERT INTO ${table} ${sql}`, values, to, effect: { inserts: 1 } }
    },
    update(filter: Filter, change: Change, held: Holds = {}, failure?: string): Statement {
      const stamp = stamps?.ofChanged(change) ?? 'NULL'
      const whereIn = (compiled: Compilation) => one(filter, held, failure, compiled)
      const compile = () => updating(change, whereIn, ' RETURNING doc', stamp)
      if (held.stored !== undefined || failure !== undefined) return compile()
      const values: SqlValue[] = []
      const shape = changeShape(filter, change, held.expect ?? {}, values)
      const key = shape && `${stamp} ${searchable.length} ${shape}`
      return kept.of(key, values, compile, () => isSearched(change, searchable))
    },
    updateMany: (filter: Filter, change: Change): Statement =>
      updating(change, (compiled) => where(filter, compiled), ''),
    delete: (filter: Filter, held: Holds = {}, failure?: string): Statement =>
      deleting((compiled) => one(filter, held, failure, compiled)),
    deleteMany: (filter: Filter): Statement => deleting((compiled) => where(filter, compiled)),
    /** Fails unless a record matches and holds what is expected, or unless none matches. */
    require(filter: Filter, isThere: boolean, failure: string, held: Holds = {}): Statement {
      const compiled = compilation()
      const found = exists(table, every(heldBy(filter, held, compiled)))
      const fails = failing(failure, compiled.parameters)
      const [yes, no] = isThere ? ['1', fails] : [fails, '1']
      return compiled.parameters.statement(`SELECT CASE WHEN ${found} THEN ${yes} ELSE ${no} END`)
    },
  }
}

/** Whether a change is one of what is searched: that is bound too, or NULL. */
function isSearched(change: Change, searchable: readonly string[]): boolean {
  return changedPaths(change).some((path) =>
    searchable.some((one) => isWithin(path, one) || isWithin(one, path)),
  )
}

/** As stored, it is all of the JSON. */
type Holds = Held<string>

function heldBy(filter: Filter, { expect, stored }: Holds, compiled: Compilation): string[] {
  const { parameters } = compiled
  const conditions = [compileFilter(filter, compiled)]
  if (expect) conditions.push(compileExpected(expect, parameters))
  if (stored !== undefined) conditions.push(`doc = ${parameters.bind(stored)}`)
  return conditions
}

/** An expression that fails: an error about a JSON path is the only one whose message contains a string of ours. */
function failing(failure: string, parameters: Parameters): string {
  return `json_extract('{}', ${parameters.bind(failure)})`
}

/** The columns of a new record, with its JSON as the second value. */
function rowOf(record: Fields, stamp: number | undefined, shadows: Iterable<Shadow>): Statement {
  const columns = ['_id', STAMP, 'doc']
  const places = ['?1', stamp ?? 'NULL', '?2']
  const values = [String(record._id), textOf(record)]
  for (const shadow of shadows) {
    const folded = asText(shadowAt(record, shadow.parts))
    columns.push(shadow.column)
    places.push(folded === null ? 'NULL' : `?${values.push(folded)}`)
  }
  return { sql: `(${columns.join(', ')}) VALUES (${places.join(', ')})`, values }
}

/** The statements that write to one collection. */

import type { Filter } from '../../../../src/ports/filter.ts'
import { isWithin, topOf } from '../../../../src/ports/paths.ts'
import type { Fields } from '../../../../src/ports/records.ts'
import type { Change, WriteOptions } from '../../../../src/ports/store.ts'
import { textOf } from '../../json-values.ts'
import { changedPaths } from '../../planner/change.ts'
import { every } from '../../sql/filter.ts'
import { shadowText } from '../layout/records.ts'
import { STAMP } from '../layout/schema-stamps.ts'
import { exists, type Parameters, type Statement } from '../layout/sql.ts'
import { compileChange, compileExpected } from './change.ts'
import { type Compilation, compileFilter, type Target, where } from './filter.ts'

/** What the record must hold: values, or all of its JSON. */
export interface Held {
  readonly expect?: WriteOptions['expect'] | undefined
  readonly doc?: string
}

/**
 * Returns the statements that write to a table; those that change or remove records return them. With `failure`, a
 * statement for one record fails if no record matches, with that string in the error's message.
 */
export interface Writes {
  insert(record: Fields): Statement
  update(filter: Filter, change: Change, held?: Held, failure?: string): Statement
  updateMany(filter: Filter, change: Change): Statement
  delete(filter: Filter, held?: Held, failure?: string): Statement
  deleteMany(filter: Filter): Statement
  /** Fails unless a record matches and holds what is expected, or unless none matches. */
  require(filter: Filter, isThere: boolean, failure: string, held?: Held): Statement
}

/** The statements that write to `target`. */
export function writesTo({
  schema: { name: to },
  table,
  stamps,
  shadows,
  compilation,
}: Target): Writes {
  /** The one record to write, as a condition on the row. */
  const one = (
    filter: Filter,
    { expect, doc }: Held,
    failure: string | undefined,
    compiled: Compilation,
  ): string => {
    const { parameters } = compiled
    const conditions = [compileFilter(filter, compiled)]
    if (expect) conditions.push(compileExpected(expect, parameters))
    if (doc !== undefined) conditions.push(`doc = ${parameters.bind(doc)}`)
    const row = `(SELECT rowid FROM ${table} WHERE ${every(conditions)} LIMIT 1)`
    if (failure === undefined) return ` WHERE rowid = ${row}`
    return ` WHERE rowid = coalesce(${row}, ${failing(failure, parameters)})`
  }

  const stampAfter = (change: Change) => `${STAMP} = ${stamps?.ofChanged(change) ?? 'NULL'}`
  const setting = settingOf(shadows, stampAfter)

  const updating = (
    change: Change,
    whereIn: (compiled: Compilation) => string,
    returning: string,
  ): Statement => {
    const compiled = compilation()
    const { shadows, parameters } = compiled
    const changes = compileChange(change, shadows.values(), parameters)
    const assignments = `${changes}, ${stampAfter(change)}`
    const sql = `UPDATE ${table} SET ${assignments}${whereIn(compiled)}${returning}`
    const effect = { changed: changedPaths(change).map(topOf) }
    return { ...parameters.statement(sql), to, effect }
  }

  const deleting = (whereIn: (compiled: Compilation) => string): Statement => {
    const compiled = compilation()
    const sql = `DELETE FROM ${table}${whereIn(compiled)} RETURNING doc`
    return { ...compiled.parameters.statement(sql), to, effect: { removes: true } }
  }

  return {
    insert(record) {
      const compiled = compilation()
      const text = textOf(record)
      const row = rowOf(record, text, String(stamps?.ofWhole(record) ?? 'NULL'), compiled)
      const statement = compiled.parameters.statement(`INSERT INTO ${table} ${row}`)
      return { ...statement, to, effect: { inserts: statement.values.indexOf(text) } }
    },
    update(filter, change, held = {}, failure) {
      const compile = (whereIn: (compiled: Compilation) => string) =>
        updating(change, whereIn, ' RETURNING doc')
      const isHeld = held.expect !== undefined || held.doc !== undefined || failure !== undefined
      const id = isHeld ? undefined : settingId(filter, change)
      return id === undefined
        ? compile((compiled) => one(filter, held, failure, compiled))
        : setting(id, change.set ?? {}, () => compile((compiled) => where(filter, compiled)))
    },
    updateMany: (filter, change) => updating(change, (compiled) => where(filter, compiled), ''),
    delete: (filter, held = {}, failure) =>
      deleting((compiled) => one(filter, held, failure, compiled)),
    deleteMany: (filter) => deleting((compiled) => where(filter, compiled)),
    require(filter, isThere, failure, { expect } = {}) {
      const compiled = compilation()
      const conditions = [compileFilter(filter, compiled)]
      if (expect) conditions.push(compileExpected(expect, compiled.parameters))
      const found = exists(table, every(conditions))
      const fails = failing(failure, compiled.parameters)
      const [yes, no] = isThere ? ['1', fails] : [fails, '1']
      return compiled.parameters.statement(`SELECT CASE WHEN ${found} THEN ${yes} ELSE ${no} END`)
    },
  }
}

/** So many statements are kept. */
const MAX_KEPT = 100

/**
 * Returns what sets fields of the record with an id, as most changes do, and returns the record: `compile` is called once for
 * all with the same fields, as their names and `stampAfter` are all that the SQL depends on.
 */
function settingOf(
  shadows: Target['shadows'],
  stampAfter: (change: Change) => string,
): (id: string, set: Fields, compile: () => Statement) => Statement {
  const kept = new Map<string, Statement>()
  return (id, set, compile) => {
    const fields = Object.keys(set)
    const key = `${stampAfter({ set })} ${shadows().size} ${fields.join('\0')}`
    const known = kept.get(key)
    if (known) return { ...known, values: [JSON.stringify(Object.values(set)), id] }
    const made = compile()
    // What is searched is bound too, or NULL.
    const isSearched = [...shadows().values()].some(({ path }) =>
      fields.some((field) => isWithin(path, field)),
    )
    if (kept.size >= MAX_KEPT) kept.clear()
    if (!isSearched) kept.set(key, made)
    return made
  }
}

/** The id of the record of which `change` sets fields, if it does nothing else. */
function settingId(filter: Filter, { set = {}, ...others }: Change): string | undefined {
  if (filter.op !== 'eq' || filter.field !== '_id') return undefined
  const { value: id } = filter
  if (typeof id !== 'string' || !id.isWellFormed()) return undefined
  const values = Object.values(set)
  const isSetting = values.length > 0 && !values.includes(undefined)
  const isAll = Object.values(others).every((one) => Object.keys(one).length === 0)
  return isSetting && isAll ? id : undefined
}

/** An expression that fails: an error about a JSON path is the only one whose message contains a string of ours. */
function failing(failure: string, parameters: Parameters): string {
  return `json_extract('{}', ${parameters.bind(failure)})`
}

/** The columns and values of a new record. */
function rowOf(record: Fields, text: string, stamp: string, compiled: Compilation): string {
  const { parameters, shadows } = compiled
  const columns = ['_id', STAMP, 'doc']
  const values = [parameters.bind(String(record._id)), stamp, parameters.bind(text)]
  for (const shadow of shadows.values()) {
    const folded = shadowText(record, shadow)
    columns.push(shadow.column)
    values.push(folded === null ? 'NULL' : parameters.bind(folded))
  }
  return `(${columns.join(', ')}) VALUES (${values.join(', ')})`
}

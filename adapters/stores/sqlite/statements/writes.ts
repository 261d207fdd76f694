/**
 * The statements that write to one collection.
 *
 * @module
 */

import { everything, type Filter } from '../../../../src/ports/filter.ts'
import type { Change, Fields, WriteOptions } from '../../../../src/ports/store.ts'
import { fieldsOf } from '../counts/effects.ts'
import { textOf } from '../layout/rows.ts'
import { MARK, type Marks } from '../layout/schema-stamps.ts'
import { shadowText } from '../layout/shadows.ts'
import { every, exists, type Parameters, type Statement } from '../sql.ts'
import { compileChange, compileExpected } from './change.ts'
import { type Compilation, compileFilter } from './filter.ts'

/** What the statements of a collection are compiled with. */
export interface Target {
  /** The table, as an identifier. */
  readonly table: string
  readonly marks: Marks | undefined
  compilation(): Compilation
}

/** What the record must hold: values, or all of its JSON. */
export interface Held {
  readonly expect?: WriteOptions['expect'] | undefined
  readonly doc?: string
}

/**
 * Returns the statements that write to a table. With `failure`, a statement for one record fails if no record matches,
 * with that string in the error's message.
 */
export interface Writes {
  insert(record: Fields): Statement
  update(filter: Filter, change: Change, held?: Held, failure?: string): Statement
  updateMany(filter: Filter, change: Change): Statement
  delete(filter: Filter, held?: Held, failure?: string): Statement
  deleteMany(filter: Filter): Statement
  /** Fails unless a record matches, or unless none does. */
  require(filter: Filter, isThere: boolean, failure: string): Statement
}

/** The statements that write to `table`. Those that change or remove records return them. */
export function writesTo({ table, marks, compilation }: Target): Writes {
  /** The one record to write, as a condition on the row. */
  const target = (
    filter: Filter,
    { expect, doc }: Held,
    failure: string | undefined,
    compiled: Compilation,
  ): string => {
    const conditions = where(filter, compiled)
    if (expect) conditions.push(compileExpected(expect, compiled.parameters))
    if (doc !== undefined) conditions.push(`doc = ${compiled.parameters.bind(doc)}`)
    const row = `(SELECT rowid FROM ${table} WHERE ${every(conditions)} LIMIT 1)`
    if (failure === undefined) return `rowid = ${row}`
    return `rowid = coalesce(${row}, ${failing(failure, compiled.parameters)})`
  }

  const assigned = (change: Change, { shadows: all, parameters }: Compilation): string =>
    `${compileChange(change, all.values(), parameters)}, ${MARK} = ${marks?.ofChanged(change) ?? 'NULL'}`

  return {
    insert(record) {
      const text = textOf(record)
      const compiled = compilation()
      const mark = marks?.ofNew(record) ?? 'NULL'
      const row = rowOf(record, text, mark, compiled)
      const statement = compiled.parameters.statement(`INSERT INTO ${table} ${row}`)
      return { ...statement, effect: { inserts: statement.values.indexOf(text) } }
    },

    update(filter, change, held = {}, failure) {
      const compiled = compilation()
      const assignments = assigned(change, compiled)
      const one = target(filter, held, failure, compiled)
      const sql = `UPDATE ${table} SET ${assignments} WHERE ${one} RETURNING doc`
      return { ...compiled.parameters.statement(sql), effect: { changed: fieldsOf(change) } }
    },

    updateMany(filter, change) {
      const compiled = compilation()
      const assignments = assigned(change, compiled)
      const conditions = whereAll(where(filter, compiled))
      const sql = `UPDATE ${table} SET ${assignments}${conditions}`
      return { ...compiled.parameters.statement(sql), effect: { changed: fieldsOf(change) } }
    },

    delete(filter, held = {}, failure) {
      const compiled = compilation()
      const one = target(filter, held, failure, compiled)
      const sql = `DELETE FROM ${table} WHERE ${one} RETURNING doc`
      return { ...compiled.parameters.statement(sql), effect: { removes: true } }
    },

    deleteMany(filter) {
      const compiled = compilation()
      const conditions = whereAll(where(filter, compiled))
      const sql = `DELETE FROM ${table}${conditions} RETURNING doc`
      return { ...compiled.parameters.statement(sql), effect: { removes: true } }
    },

    require(filter, isThere, failure) {
      const compiled = compilation()
      const found = exists(table, every(where(filter, compiled)))
      const fails = failing(failure, compiled.parameters)
      const [yes, no] = isThere ? ['1', fails] : [fails, '1']
      return compiled.parameters.statement(`SELECT CASE WHEN ${found} THEN ${yes} ELSE ${no} END`)
    },
  }
}

/** An expression that fails: an error about a JSON path is the only one whose message contains a string of ours. */
function failing(failure: string, parameters: Parameters): string {
  return `json_extract('{}', ${parameters.bind(failure)})`
}

/** The conditions that `filter` compiles to; none if it matches everything. */
export function where(filter: Filter, compiled: Compilation): string[] {
  return filter === everything ? [] : [compileFilter(filter, compiled)]
}

/** A `WHERE` clause of `conditions`; empty without conditions. */
export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${every(conditions)}`
}

/** The columns and values of a new record. */
function rowOf(record: Fields, text: string, mark: string, compiled: Compilation): string {
  const { parameters, shadows } = compiled
  const columns = ['_id', MARK, 'doc']
  const values = [parameters.bind(String(record._id)), mark, parameters.bind(text)]
  for (const shadow of shadows.values()) {
    const folded = shadowText(record, shadow)
    columns.push(shadow.column)
    values.push(folded === null ? 'NULL' : parameters.bind(folded))
  }
  return `(${columns.join(', ')}) VALUES (${values.join(', ')})`
}

/**
 * The statements that hold records of one collection until a transaction ends.
 *
 * @module
 */

import type { Filter } from '../../../../src/ports/filter.ts'
import type { CollectionSchema, Fields, WriteOptions } from '../../../../src/ports/store.ts'
import { every } from '../../sql/conditions.ts'
import type { Table } from '../layout/columns.ts'
import { type Run, readerOf } from '../layout/rows.ts'
import { Parameters } from '../layout/sql.ts'
import { restored } from '../layout/text.ts'
import { type Condition, writeExpecting } from './expected.ts'
import { compileFilter } from './filter.ts'

/** What several writes as one transaction need. */
export interface Holds {
  /** Whether a record matches and holds what is expected; nobody changes or removes it before the transaction ends. */
  keep(filter: Filter, options?: WriteOptions): Promise<boolean>
  /** Whether a record matches at this moment. */
  isThere(filter: Filter): Promise<boolean>
  /**
   * Waits for those who are writing to the matching records; nobody else does before the transaction ends. Resolves to
   * their ids.
   */
  lock(filter: Filter): Promise<string[]>
  /** The same of one record that matches and holds what is expected; resolves to it. */
  hold(filter: Filter, options?: WriteOptions): Promise<Fields | null>
  /** The same of all that match. */
  holdAll(filter: Filter): Promise<Fields[]>
}

/** Holds records of `schema`, which is `table` in the database. */
export function holdsOf(schema: CollectionSchema, table: Table, run: Run): Holds {
  const { columns, record } = readerOf(table)
  const found = { schema, table, run }

  const select = (what: string, filter: Filter, held: Condition, ending: string) => {
    const compiled = { schema, table, parameters: new Parameters() }
    const condition = every([compileFilter(filter, compiled), held(compiled.parameters)])
    const sql = `SELECT ${what} FROM ${table.sql} WHERE ${condition}${ending}`
    return run(compiled.parameters.statement(sql))
  }
  const any = () => 'TRUE'
  // In one order, so that two writes never wait for each other.
  const all = (what: string, filter: Filter) =>
    select(what, filter, any, ` ORDER BY ${table.id} FOR UPDATE`)

  return {
    async keep(filter, options = {}) {
      const kept = await writeExpecting({ ...found, filter }, options.expect, async (held) => {
        const { count } = await select('1', filter, held, ' LIMIT 1 FOR SHARE')
        return count > 0 ? {} : null
      })
      return kept !== null
    },
    isThere: async (filter) => (await select('1', filter, any, ' LIMIT 1')).count > 0,
    async lock(filter) {
      const { rows } = await all(table.columns[0]?.value ?? table.id, filter)
      return rows.map(([key]) => restored(String(key)))
    },
    hold: (filter, options = {}) =>
      writeExpecting({ ...found, filter }, options.expect, async (held) => {
        const { rows } = await select(columns, filter, held, ' LIMIT 1 FOR UPDATE')
        return rows[0] ? record(rows[0]) : null
      }),
    holdAll: async (filter) => (await all(columns, filter)).rows.map(record),
  }
}

/**
 * The statements that write to one collection.
 *
 * @module
 */

import type { Filter } from '../../../../src/ports/filter.ts'
import { topOf } from '../../../../src/ports/paths.ts'
import type {
  Change,
  Collection,
  CollectionSchema,
  Fields,
  WriteOptions,
} from '../../../../src/ports/store.ts'
import { changedPaths } from '../../changed.ts'
import { namesOne } from '../../planner/filter.ts'
import { every } from '../../sql/conditions.ts'
import type { Table } from '../layout/columns.ts'
import type { Compilation } from '../layout/operands.ts'
import { type Run, readerOf } from '../layout/rows.ts'
import { Parameters } from '../layout/sql.ts'
import { restored } from '../layout/text.ts'
import { compileChange } from './change.ts'
import { type Condition, writeExpecting } from './expected.ts'
import { compileFilter, where } from './filter.ts'
import { refuseFixed, singleInserter } from './inserts.ts'

/** The writes of one collection, and what several of them as one transaction need. */
export interface Writes extends Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  /** Removes every matching record and resolves to them. */
  deleteMany(filter: Filter): Promise<Fields[]>
  /**
   * Whether a record matches and holds what is expected; nobody changes or removes it before the transaction ends.
   */
  keep(filter: Filter, options?: WriteOptions): Promise<boolean>
  /** Whether a record matches at this moment. */
  isThere(filter: Filter): Promise<boolean>
  /**
   * Waits for those who are writing to the matching records; nobody else does before the transaction ends. Resolves to
   * their ids.
   */
  lock(filter: Filter): Promise<string[]>
}

/** The writes to `schema`, which is `table` in the database. */
export function writesTo(schema: CollectionSchema, table: Table, run: Run): Writes {
  const { columns, record } = readerOf(table)

  const compilation = (): Compilation => ({ schema, table, parameters: new Parameters() })

  const send = (sql: string, { parameters }: Compilation) => run(parameters.statement(sql))

  /** The one record to write, as a condition on the row. */
  const target = (filter: Filter, held: Condition, compiled: Compilation): string => {
    const condition = () => every([compileFilter(filter, compiled), held(compiled.parameters)])
    if (namesOne(filter)) return condition()
    // The lock makes sure that the row still meets the condition when it is written, and that another one is taken if
    // it no longer does.
    const chosen = `SELECT ${table.id} FROM ${table.sql} WHERE ${condition()} LIMIT 1 FOR UPDATE`
    return `${table.id} = (${chosen}) AND ${condition()}`
  }

  const written = async (sql: string, compiled: Compilation): Promise<Fields | null> => {
    const { rows } = await send(`${sql} RETURNING ${columns}`, compiled)
    const [row] = rows
    return row ? record(row) : null
  }

  const found = { schema, table, run }

  const assigned = (change: Change, { parameters }: Compilation): string => {
    if (table.isAdopted) {
      refuseFixed(changedPaths(change).map(topOf), table, ['nothing', 'inserts'])
    }
    return compileChange(change, table, parameters) || `${table.id} = ${table.id}`
  }

  /** A row that matches, if a `SELECT` with this ending returns one. */
  const select = async (
    filter: Filter,
    held: Condition,
    ending: string,
  ): Promise<Fields | null> => {
    const compiled = compilation()
    const condition = every([compileFilter(filter, compiled), held(compiled.parameters)])
    const sql = `SELECT 1 FROM ${table.sql} WHERE ${condition} LIMIT 1${ending}`
    return (await send(sql, compiled)).count > 0 ? {} : null
  }

  return {
    insert: singleInserter(table, run),

    update: (filter, change, options = {}) =>
      writeExpecting({ ...found, filter }, options.expect, (held) => {
        const compiled = compilation()
        const assignments = assigned(change, compiled)
        const condition = target(filter, held, compiled)
        return written(`UPDATE ${table.sql} SET ${assignments} WHERE ${condition}`, compiled)
      }),

    async updateMany(filter, change) {
      const compiled = compilation()
      const assignments = assigned(change, compiled)
      const sql = `UPDATE ${table.sql} SET ${assignments}${where(filter, compiled)}`
      return (await send(sql, compiled)).count
    },

    delete: (filter, options = {}) =>
      writeExpecting({ ...found, filter }, options.expect, (held) => {
        const compiled = compilation()
        const condition = target(filter, held, compiled)
        return written(`DELETE FROM ${table.sql} WHERE ${condition}`, compiled)
      }),

    async deleteMany(filter) {
      const compiled = compilation()
      const sql = `DELETE FROM ${table.sql}${where(filter, compiled)} RETURNING ${columns}`
      const { rows } = await send(sql, compiled)
      return Promise.all(rows.map(record))
    },

    async keep(filter, options = {}) {
      const share = (held: Condition) => select(filter, held, ' FOR SHARE')
      return (await writeExpecting({ ...found, filter }, options.expect, share)) !== null
    },
    isThere: async (filter) => (await select(filter, () => 'TRUE', '')) !== null,

    async lock(filter) {
      const compiled = compilation()
      const [id] = table.columns
      // In one order, so that two writes never wait for each other.
      const sql = `SELECT ${id?.value} FROM ${table.sql}${where(filter, compiled)} ORDER BY ${table.id} FOR UPDATE`
      const { rows } = await send(sql, compiled)
      return rows.map(([key]) => restored(String(key)))
    },
  }
}

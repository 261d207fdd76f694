/**
 * The statements that write to one collection.
 *
 * @module
 */

import type { Filter } from '../../../../src/ports/filter.ts'
import { topOf } from '../../../../src/ports/paths.ts'
import type { Change, Collection, CollectionSchema, Fields } from '../../../../src/ports/store.ts'
import { changedPaths } from '../../changed.ts'
import type { NotableWrites } from '../../changes/noting.ts'
import { namesOne } from '../../planner/filter.ts'
import { every } from '../../sql/conditions.ts'
import type { Table } from '../layout/columns.ts'
import type { Compilation } from '../layout/operands.ts'
import { type Run, readerOf } from '../layout/rows.ts'
import { Parameters } from '../layout/sql.ts'
import { compileChange } from './change.ts'
import { type Condition, writeExpecting } from './expected.ts'
import { compileFilter, where } from './filter.ts'
import { type Holds, holdsOf } from './holds.ts'
import { refuseFixed, singleInserter } from './inserts.ts'

/** The writes of one collection, and what several of them as one transaction need. */
export interface Writes
  extends Holds,
    Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  turn: Required<NotableWrites>['turn']
  /** Removes every matching record and resolves to them. */
  deleteMany(filter: Filter): Promise<Fields[]>
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

  return {
    insert: singleInserter(table, run),

    update: (filter, change, options = {}) =>
      writeExpecting({ ...found, filter }, options.expect, (held) => {
        const compiled = compilation()
        const assignments = assigned(change, compiled)
        const condition = target(filter, held, compiled)
        return written(`UPDATE ${table.sql} SET ${assignments} WHERE ${condition}`, compiled)
      }),

    async turn(filter, change, options = {}) {
      let before: Fields | undefined
      const after = await writeExpecting({ ...found, filter }, options.expect, async (held) => {
        const compiled = compilation()
        const assignments = assigned(change, compiled)
        const condition = every([compileFilter(filter, compiled), held(compiled.parameters)])
        const { rows } = await send(
          `WITH held AS (SELECT ${table.id} AS "the one", ${columns} FROM ${table.sql} WHERE ${condition} LIMIT 1 FOR UPDATE),
            written AS (UPDATE ${table.sql} SET ${assignments} WHERE ${table.id} = (SELECT "the one" FROM held) RETURNING ${columns})
          SELECT held.*, written.* FROM held, written`,
          compiled,
        )
        const [, ...both] = rows[0] ?? []
        if (both.length === 0) return null
        before = record(both.slice(0, both.length / 2))
        return record(both.slice(both.length / 2))
      })
      return before && after ? [before, after] : null
    },

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

    ...holdsOf(schema, table, run),
  }
}

/**
 * Inserts of one turn of the event loop, in one statement.
 *
 * @module
 */

import type { Fields } from '../../../src/ports/store.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { gather } from '../gather.ts'
import type { Table } from './columns.ts'
import { insertRows, rowJson } from './rows.ts'
import { Parameters } from './sql.ts'
import type { Run } from './writes.ts'

/**
 * Inserts records into `table`; if one is refused, only that one fails, with the error that it would have had alone.
 */
export function inserter(table: Table, run: Run): (record: Fields) => Promise<void> {
  const insert = (rows: readonly string[]) => insertJson(rows, table, run)

  const gathered = gather((rows: string[]) => {
    if (rows.length === 1) return [insert(rows)]
    const together = insert(rows).then(
      () => true,
      (error: unknown) => {
        if (error instanceof StoreUnavailable) throw error
        return false
      },
    )
    return rows.map(async (row) => {
      if (!(await together)) await insert([row])
    })
  })

  return async (record) =>
    table.isAdopted ? insertRecord(record, table, run) : gathered(await rowJson(record, table))
}

/** Inserts one record, in a statement of its own. */
export async function insertRecord(record: Fields, table: Table, run: Run): Promise<void> {
  const row = await rowJson(record, table)
  return insertJson([row], table, run, table.isAdopted ? fieldsOf(record) : undefined)
}

async function insertJson(
  rows: readonly string[],
  table: Table,
  run: Run,
  fields?: ReadonlySet<string>,
): Promise<void> {
  const parameters = new Parameters()
  const sql = insertRows(table, parameters.bind(`[${rows.join()}]`, 'json'), fields)
  await run(parameters.statement(sql))
}

/** The fields that hold a value or null. */
function fieldsOf(record: Fields): ReadonlySet<string> {
  return new Set(Object.keys(record).filter((field) => record[field] !== undefined))
}

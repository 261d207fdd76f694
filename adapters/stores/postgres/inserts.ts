/**
 * Inserts of one turn of the event loop, in one statement.
 *
 * @module
 */

import type { Fields } from '../../../src/ports/store.ts'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { gather } from '../gather.ts'
import type { Runner } from './collection.ts'
import type { Table } from './columns.ts'
import { insertRows, rowJson } from './rows.ts'
import { Parameters } from './sql.ts'

/**
 * Inserts records into `table`; if one is refused, only that one fails, with the error that it would have had alone.
 */
export function inserter(table: Table, runner: Runner): (record: Fields) => Promise<void> {
  async function insert(rows: readonly string[], fields?: ReadonlySet<string>): Promise<void> {
    const parameters = new Parameters()
    const sql = insertRows(table, parameters.bind(`[${rows.join()}]`, 'json'), fields)
    await runner.write(parameters.statement(sql))
  }

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

  return async (record) => {
    const row = await rowJson(record, table)
    return table.isAdopted ? insert([row], fieldsOf(record)) : gathered(row)
  }
}

/** The fields that hold a value or null. */
function fieldsOf(record: Fields): ReadonlySet<string> {
  return new Set(Object.keys(record).filter((field) => record[field] !== undefined))
}

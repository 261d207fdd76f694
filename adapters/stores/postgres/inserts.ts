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
  async function insert(rows: readonly string[]): Promise<void> {
    const parameters = new Parameters()
    const sql = insertRows(table, parameters.bind(`[${rows.join()}]`, 'json'))
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

  return async (record) => gathered(await rowJson(record, table))
}

/** Inserts of one turn of the event loop, in one statement. */

import type { Fields } from '../../../../src/ports/store/records.ts'
import type { Collection } from '../../../../src/ports/store/store.ts'
import { RefusedWrite, StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { gather } from '../../gather.ts'
import type { Column, Table } from '../layout/columns.ts'
import { insertRows, type Run, readerOf, rowJson } from '../layout/rows.ts'
import { Parameters } from '../layout/sql.ts'

type Insert = Collection['insert']

/** Inserts records, those of one turn together if it `gathers`. One that is refused fails alone, with an error of its own. */
export function inserter(table: Table, run: Run, gathers: boolean): Insert {
  if (table.isAdopted) return adoptedInserter(table, run)
  let sql: string | undefined
  const insert = async (rows: readonly string[]): Promise<void> => {
    sql ??= insertRows(table, new Parameters().bind('', 'json'))
    await run({ sql, values: [listOf(rows)] })
  }
  if (!gathers) return async (record) => insert([rowJson(record, table)])

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

  return async (record) => gathered(rowJson(record, table))
}

/** Inserts records into the table of another program, and resolves to what is stored: it makes values of its own. */
function adoptedInserter(table: Table, run: Run): Insert {
  const { columns, record: read } = readerOf(table)
  return async (record) => {
    const fields = new Set(Object.keys(record).filter((field) => record[field] !== undefined))
    refuseFixed(fields, table, ['nothing'])
    const parameters = new Parameters()
    const list = parameters.bind(listOf([rowJson(record, table)]), 'json')
    const sql = `${insertRows(table, list, fields)} RETURNING ${columns}`
    const { rows } = await run(parameters.statement(sql))
    const [row] = rows
    // A trigger can drop the row without an error.
    if (!row) throw new RefusedWrite('value', [], { by: 'a trigger' })
    return read(row)
  }
}

/** Refuses a write of columns whose values the database makes itself: those that take no more than `fixed`. */
export function refuseFixed(
  fields: Iterable<string>,
  { byField }: Table,
  fixed: readonly Column['takes'][],
): void {
  const refused = [...fields].filter((field) => {
    const takes = byField.get(field)?.takes
    return takes !== undefined && fixed.includes(takes)
  })
  if (refused.length > 0) throw new RefusedWrite('value', refused)
}

/** The statement that inserts a record, for one that does more. */
export function insertSql(record: Fields, table: Table): (parameters: Parameters) => string {
  const list = listOf([rowJson(record, table)])
  return (parameters) => `${insertRows(table, parameters.bind(list, 'json'))} RETURNING 1`
}

function listOf(rows: readonly string[]): string {
  return `[${rows.join()}]`
}

/**
 * Reads of single records by their id, which share a statement.
 *
 * @module
 */

import type { Read } from '../../../../src/ports/store.ts'
import { gather } from '../../gather.ts'
import type { Row } from '../layout/rows.ts'
import { restored } from '../layout/text.ts'

/** The id of `read`, if it asks for nothing else. */
export function idOf({
  filter,
  after,
  afterRecord,
  skip = 0,
  hints = {},
}: Read): string | undefined {
  if (after || afterRecord || skip > 0 || hints.timeLimitMs !== undefined) return undefined
  if (filter.op !== 'eq' || filter.field !== '_id') return undefined
  return typeof filter.value === 'string' ? filter.value : undefined
}

/** Reads rows by their ids; `rowsOf` reads those of one turn of the event loop, which begin with the id. */
export function pointReader(
  rowsOf: (ids: readonly string[]) => Promise<readonly Row[]>,
): (id: string) => Promise<Row | undefined> {
  return gather((ids: string[]) => {
    if (ids.length === 1) return [rowsOf(ids).then(([row]) => row)]
    const found = rowsOf([...new Set(ids)]).then(
      (rows) => new Map(rows.map((row) => [restored(String(row[0])), row])),
    )
    return ids.map(async (id) => (await found).get(id))
  })
}

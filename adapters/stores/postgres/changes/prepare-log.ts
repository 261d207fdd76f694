/** Start-up: makes the tables of the log, and sees that its places go on. */

import { CONSUMERS } from '../../../../src/ports/store/changes.ts'
import { newEpoch } from '../../changes/position.ts'
import type { Place } from '../connection/connection.ts'
import { tableSql } from '../layout/columns.ts'
import { existingTables, hasFunction } from '../schema/catalog.ts'
import { createLog, createPlace, findKept, keepLog, logTables, PLACE } from './log-tables.ts'

export async function prepareLog(place: Place): Promise<void> {
  const { connection, space } = place
  const tables = logTables(space)
  const consumers = tableSql(space, CONSUMERS)
  const there = await existingTables(connection, [tables.entries, consumers])
  if (!there.has(tables.entries)) await connection.exec(createLog(tables))
  if (!(await hasFunction(place, PLACE))) await connection.exec(createPlace(tables))
  if ((await connection.rows(findKept(tables))).length > 0) return
  await connection.run(keepLog(tables, newEpoch(), there.has(consumers) ? consumers : undefined))
}

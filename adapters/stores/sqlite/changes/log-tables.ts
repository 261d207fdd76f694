/**
 * The log of changes in SQLite: its tables, the triggers that fill it, and the statements around a write that is noted.
 *
 * Triggers add the entries, in the step of the statement that writes, and only while the log's row says so: what a
 * script or a version of the app without the log writes is not noted. One process writes at a time, so numbers that are
 * taken within a transaction are those of the order of commits.
 *
 * @module
 */

import type { LoggedModel, NotedChange } from '../../../../src/ports/changes.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { positionText } from '../../changes/position.ts'
import { identifier, literal, type Row, type Statement } from '../layout/sql.ts'

/** The entries. The record comes after what is looked at alone, as it may be long. */
export const ENTRIES = 'fieldgate_changes'
/** One row: the number and time of the last entry, and when and by whom is written what is noted now. */
export const LOG = 'fieldgate_change_log'
/** For each model, the number up to which entries may have been dropped. */
export const DROPPED = 'fieldgate_changes_dropped'

/** Creates the tables. */
export function createLog(epoch: string): Statement[] {
  const plain = (sql: string): Statement => ({ sql, values: [] })
  return [
    plain(
      `CREATE TABLE IF NOT EXISTS ${ENTRIES} (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, model TEXT NOT NULL, record TEXT NOT NULL, actor TEXT, before TEXT, after TEXT)`,
    ),
    plain(
      `CREATE INDEX IF NOT EXISTS ${identifier(`${ENTRIES} of a record`)} ON ${ENTRIES} (model, record, seq)`,
    ),
    plain(
      `CREATE TABLE IF NOT EXISTS ${LOG} (epoch TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, is_open INTEGER NOT NULL, start INTEGER NOT NULL, now INTEGER NOT NULL, actor TEXT)`,
    ),
    {
      sql: `INSERT INTO ${LOG} SELECT ?1, 0, 0, 0, 0, 0, NULL WHERE NOT EXISTS (SELECT 1 FROM ${LOG})`,
      values: [epoch],
    },
    plain(
      `CREATE TABLE IF NOT EXISTS ${DROPPED} (model TEXT PRIMARY KEY, seq INTEGER NOT NULL, before INTEGER NOT NULL)`,
    ),
  ]
}

/** Whether the tables are among what was `made`, or none of `schemas` needs them. */
export function hasLog(
  schemas: readonly CollectionSchema[],
  made: ReadonlyMap<string, unknown>,
): boolean {
  return made.has(DROPPED) || !schemas.some(({ logged }) => logged)
}

const NOTES = ' changes '

/** Whether the trigger with this name notes changes of `table`. */
export function isLogTrigger(table: string, name: string): boolean {
  return name.startsWith(`${table}${NOTES}`)
}

interface Trigger {
  readonly name: string
  readonly sql: string
}

/** The triggers of a collection whose writes are noted. */
export function logTriggers({ name: table, logged }: CollectionSchema): Trigger[] {
  if (!logged) return []
  const isOpen = `(SELECT is_open FROM ${LOG})`
  const trigger = (event: string, when: string, id: string, before: string, after: string) => {
    const name = `${table}${NOTES}${event.slice(0, 6).toLowerCase()}`
    const values = `seq, now, ${literal(logged.model)}, ${id}, actor, ${before}, ${after}`
    const adds = `UPDATE ${LOG} SET seq = seq + 1, at = now; INSERT INTO ${ENTRIES} (seq, at, model, record, actor, before, after) SELECT ${values} FROM ${LOG}`
    return {
      name,
      sql: `CREATE TRIGGER ${identifier(name)} AFTER ${event} ON ${identifier(table)} WHEN ${when} BEGIN ${adds}; END`,
    }
  }
  return [
    trigger('INSERT', isOpen, 'new._id', 'NULL', 'new.doc'),
    trigger(
      'UPDATE OF doc',
      `${isOpen} AND new.doc IS NOT old.doc`,
      'new._id',
      'old.doc',
      'new.doc',
    ),
    trigger('DELETE', isOpen, 'old._id', 'old.doc', 'NULL'),
  ]
}

const NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** From now on, what the transaction writes is noted; before it, nothing was. */
export function beginNoting(by: string | null): Statement {
  const now = `max(at, ${NOW_MS})`
  return actorSet(`UPDATE ${LOG} SET is_open = 1, start = seq, now = ${now}, actor = `, by)
}

/** From now on, somebody else does what is noted. */
export function noteFor(by: string | null): Statement {
  return actorSet(`UPDATE ${LOG} SET actor = `, by)
}

function actorSet(sql: string, by: string | null): Statement {
  return by === null ? { sql: `${sql}NULL`, values: [] } : { sql: `${sql}?1`, values: [by] }
}

/** Ends it, and returns what was noted, for `notedIn`. */
export const END_NOTING: Statement = {
  sql: `UPDATE ${LOG} SET is_open = 0 RETURNING epoch, (SELECT json_group_array(json_array(seq, at, model, record)) FROM ${ENTRIES} WHERE seq > start) AS noted`,
  values: [],
  returns: true,
}

/** The entries that a write has added. */
export function notedIn(row: Row | undefined): NotedChange[] {
  const entries = JSON.parse(String(row?.noted ?? '[]')) as [number, number, string, string][]
  const epoch = String(row?.epoch)
  return entries
    .sort(([a], [b]) => a - b)
    .map(([seq, at, model, record]) => {
      return { id: positionText({ epoch, numbers: [seq, at] }), model, record }
    })
}

/** The most entries of a model that one write drops. */
const MAX_DROPPED = 1000

/** Drops the oldest entries of a model, if they are older than it keeps them. */
export function dropOld({ model, keepMs }: LoggedModel): Statement[] {
  if (keepMs === Number.POSITIVE_INFINITY) return []
  const old = `at < ${NOW_MS} - ${Math.ceil(keepMs)}`
  const known = `coalesce((SELECT seq FROM ${DROPPED} WHERE model = ?1), 0)`
  // Looked through from where the last one ended: others' entries that are kept longer are passed once.
  const oldest = `SELECT seq, at FROM ${ENTRIES} WHERE seq > ${known} ORDER BY seq LIMIT ${MAX_DROPPED}`
  return [
    {
      sql: `INSERT INTO ${DROPPED} SELECT ?1, max(seq), ${known} FROM (${oldest}) WHERE ${old} HAVING max(seq) IS NOT NULL ON CONFLICT (model) DO UPDATE SET before = seq, seq = excluded.seq`,
      values: [model],
    },
    {
      sql: `DELETE FROM ${ENTRIES} WHERE model = ?1 AND seq > (SELECT before FROM ${DROPPED} WHERE model = ?1) AND seq <= (SELECT seq FROM ${DROPPED} WHERE model = ?1)`,
      values: [model],
    },
  ]
}

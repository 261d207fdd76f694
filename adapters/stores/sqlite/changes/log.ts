/**
 * The log of changes in SQLite: its tables, the triggers that fill it, the statements around a write that is noted, and what its
 * readers see.
 *
 * Triggers add the entries, in the step of the statement that writes, and only while the log's row says so: what a
 * script or a version of the app without the log writes is not noted. One process writes at a time, so numbers that are
 * taken within a transaction are those of the order of commits.
 */

import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type {
  ChangeLog,
  LoggedChange,
  LoggedModel,
  NotedChange,
} from '../../../../src/ports/store/changes.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import {
  LoggedModels,
  MAX_DROPPED,
  nextPosition,
  noLog,
  type StoredEntry,
} from '../../changes/entries.ts'
import { type Position, positionIn, positionText } from '../../changes/position.ts'
import { Wakes } from '../../changes/wakes.ts'
import {
  type Creation,
  identifier,
  literal,
  type Row,
  type Statement,
  statement,
  trigger,
} from '../layout/sql.ts'

/** The entries. The record comes after what is looked at alone, as it may be long. */
export const ENTRIES = 'fieldgate_changes'
/** One row: the number and time of the last entry, and when and by whom is written what is noted now. */
export const LOG = 'fieldgate_change_log'
/** For each model, the number up to which entries may have been dropped: the last of the tables. */
export const DROPPED = 'fieldgate_changes_dropped'

export function createLog(epoch: string): Statement[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${ENTRIES} (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, model TEXT NOT NULL, record TEXT NOT NULL, actor TEXT, before TEXT, after TEXT)`,
    `CREATE INDEX IF NOT EXISTS ${identifier(`${ENTRIES} of a record`)} ON ${ENTRIES} (model, record, seq)`,
    `CREATE TABLE IF NOT EXISTS ${LOG} (epoch TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, is_open INTEGER NOT NULL, start INTEGER NOT NULL, now INTEGER NOT NULL, actor TEXT)`,
    `INSERT INTO ${LOG} SELECT ${literal(epoch)}, 0, 0, 0, 0, 0, NULL WHERE NOT EXISTS (SELECT 1 FROM ${LOG})`,
    `CREATE TABLE IF NOT EXISTS ${DROPPED} (model TEXT PRIMARY KEY, seq INTEGER NOT NULL, before INTEGER NOT NULL)`,
  ].map(statement)
}

const NOTES = ' changes '

export function isLogTrigger(table: string, name: string): boolean {
  return name.startsWith(`${table}${NOTES}`)
}

/** The triggers of a collection whose writes are noted. */
export function logTriggers({ name: table, logged }: CollectionSchema): Creation[] {
  if (!logged) return []
  const isOpen = `(SELECT is_open FROM ${LOG})`
  const noting = (event: string, when: string, records: string) => {
    const values = `seq, now, ${literal(logged.model)}, ${records}`
    const adds = `UPDATE ${LOG} SET seq = seq + 1, at = now; INSERT INTO ${ENTRIES} (seq, at, model, record, actor, before, after) SELECT ${values} FROM ${LOG}`
    const name = `${table}${NOTES}${event.slice(0, 6).toLowerCase()}`
    return trigger(name, table, event, when, adds)
  }
  const isChanged = `${isOpen} AND new.doc IS NOT old.doc`
  return [
    noting('INSERT', isOpen, 'new._id, actor, NULL, new.doc'),
    noting('UPDATE OF doc', isChanged, 'new._id, actor, old.doc, new.doc'),
    noting('DELETE', isOpen, 'old._id, actor, old.doc, NULL'),
  ]
}

const NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** From now on, `by` does what the transaction writes; if it `begins`, that is noted, and what comes before it is not. */
export function noteFor(by: string | null, begins: boolean): Statement {
  const beginning = begins ? `is_open = 1, start = seq, now = max(at, ${NOW_MS}), ` : ''
  const sql = `UPDATE ${LOG} SET ${beginning}actor = `
  return by === null ? statement(`${sql}NULL`) : { sql: `${sql}?1`, values: [by] }
}

/** Ends it, and returns what was noted, for `noted`. */
export const END_NOTING: Statement = {
  sql: `UPDATE ${LOG} SET is_open = 0 RETURNING epoch, (SELECT json_group_array(json_array(seq, at, model, record)) FROM ${ENTRIES} WHERE seq > start) AS noted`,
  values: [],
  returns: true,
}

/** Drops the oldest entries of a model, if they are older than it keeps them. */
function dropOld({ model, keepMs }: LoggedModel): Statement[] {
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
      // By the numbers, and by no index of the models, as in `readWhile`.
      sql: `DELETE FROM ${ENTRIES} WHERE +model = ?1 AND seq > (SELECT before FROM ${DROPPED} WHERE model = ?1) AND seq <= (SELECT seq FROM ${DROPPED} WHERE model = ?1)`,
      values: [model],
    },
  ]
}

export function dropAll({ models }: Pick<OwnLog, 'models'>, times: number): Statement[] {
  return Array.from({ length: times }, () => models.limited.flatMap(dropOld)).flat()
}

/** A log, and what its store must tell it. */
export interface OwnLog extends ChangeLog {
  /** Those whose entries it can read, once their tables are there. */
  readonly models: LoggedModels
  /** What a write has added, from what `END_NOTING` returned; those who wait are told of it. */
  noted(row: Row | undefined): NotedChange[]
}

/**
 * The log in a database whose rows `rows` reads; its errors are the port's. `deadline` is true while a read may go on: one
 * of few models may pass any number of entries of others.
 */
export function openLog(
  rows: (statement: Statement) => MaybePromise<readonly Row[]>,
  deadline = 'TRUE',
): OwnLog {
  const models = new LoggedModels()
  const position = async () => {
    const [row] = await rows(statement(`SELECT epoch, seq, at FROM ${LOG}`))
    return idOf(row ?? {})
  }
  const wakes = new Wakes(position)
  const read = readWhile(deadline)
  const changesIn = (found: readonly Row[]): LoggedChange[] =>
    found.flatMap((row) => models.change(idOf(row), row as unknown as StoredEntry) ?? [])

  return {
    models,
    position,
    async read(after, { limit, models: asked = models.names, lossy }) {
      const from = after === undefined ? undefined : positionIn(after, 2)
      if (after !== undefined && !from) return { gone: true }
      const [seq = 0] = from?.numbers ?? []
      const found = await rows({ sql: read, values: [seq, JSON.stringify(asked), limit] })
      const [first] = found
      if (!first || (from && isGone(from, first, lossy))) return { gone: true }
      const entries = found.filter((row) => row.seq !== null)
      const end = idOf({ epoch: first.epoch, seq: first.last, at: first.last_at })
      return { changes: changesIn(entries), position: nextPosition(entries.map(idOf), end, limit) }
    },
    async history(model, record, { limit, upTo }) {
      const last = upTo === undefined ? undefined : positionIn(upTo, 2)
      const most = upTo === undefined ? Number.MAX_SAFE_INTEGER : (last?.numbers[0] ?? 0)
      const found = await rows({ sql: HISTORY, values: [model, record, most, limit] })
      // Of another database, it is the position of nothing here.
      return last && last.epoch !== found[0]?.epoch ? [] : changesIn(found)
    },
    wake: wakes.wake,
    noted(row) {
      // The write stands, but nothing was noted.
      if (!row) throw noLog()
      const { epoch, noted: json } = row
      const entries = JSON.parse(String(json)) as [number, number, string, string][]
      const noted = entries
        .sort(([a], [b]) => a - b)
        .map(([seq, at, model, record]) => ({ id: idOf({ epoch, seq, at }), model, record }))
      if (noted.length > 0) wakes.notify()
      return noted
    },
  }
}

const COLUMNS = 'e.seq, e.at, e.model, e.actor, e.before, e.after'

/**
 * One statement, so all of it is of one moment: the end of the log, up to where entries may have been dropped, the time of
 * the entry at the position, and the entries after it; one row without any if there are none. The plus sign keeps SQLite
 * from the index of the models, by which it would go through all entries of theirs.
 */
const readWhile = (goesOn: string): string =>
  `SELECT l.epoch, l.seq AS last, l.at AS last_at, (SELECT max(d.seq) FROM ${DROPPED} AS d WHERE d.model IN (SELECT value FROM json_each(?2))) AS dropped, (SELECT k.at FROM ${ENTRIES} AS k WHERE k.seq = ?1) AS known_at, ${COLUMNS} FROM ${LOG} AS l LEFT JOIN (SELECT * FROM ${ENTRIES} WHERE ${goesOn} AND seq > ?1 AND +model IN (SELECT value FROM json_each(?2)) ORDER BY seq LIMIT +?3) AS e ORDER BY e.seq`

const HISTORY = `SELECT l.epoch, ${COLUMNS} FROM ${ENTRIES} AS e JOIN ${LOG} AS l WHERE e.model = ?1 AND e.record = ?2 AND e.seq <= ?3 ORDER BY e.seq DESC LIMIT +?4`

/** Whether entries after a position may be missing, or it is of another database. */
function isGone({ epoch, numbers: [seq = 0, at = 0] }: Position, row: Row, lossy?: boolean) {
  if (row.epoch !== epoch || seq > Number(row.last)) return true
  if (!lossy && seq < Number(row.dropped ?? 0)) return true
  // After a copy of the database was put in its place, other entries get the same numbers.
  return row.known_at === null ? at > Number(row.last_at) : at !== Number(row.known_at)
}

function idOf({ epoch, seq, at }: Row): string {
  return positionText({ epoch: String(epoch), numbers: [Number(seq), Number(at)] })
}

/**
 * The log of changes in PostgreSQL: its tables, and the statements that add to them.
 *
 * Transactions commit in another order than they begin, so no number that one takes while it runs is that of the commit.
 * An entry has a place, and a number within it. The place is at least the id of its transaction (xid8), and at least the
 * last id that had ended when the entry was added; by then its transaction has locked all records that it writes. So:
 *
 * - who has written a record later has the same or a later place, and then a greater number: its writer before had ended.
 * - what is below the oldest transaction that runs (`pg_snapshot_xmin`) is complete: nothing comes there any more.
 */

import { CONSUMERS, type LoggedModel } from '../../../../src/ports/store/changes.ts'
import { MAX_DROPPED } from '../../changes/entries.ts'
import type { Noted } from '../../changes/noting.ts'
import { newEpoch, positionText } from '../../changes/position.ts'
import type { Place } from '../connection/connection.ts'
import { tableSql } from '../layout/columns.ts'
import type { Row } from '../layout/rows.ts'
import { identifier, literal, Parameters, type Statement } from '../layout/sql.ts'
import { existingTables, hasFunction } from '../schema/catalog.ts'

const ENTRIES = 'fieldgate_changes'
const PLACE = 'fieldgate_changes_place'

/** The tables of the log in one schema of a database, and its function, as SQL. */
export type LogTables = Readonly<Record<'entries' | 'log' | 'dropped' | 'place', string>>

export function logTables(space: string): LogTables {
  return {
    entries: tableSql(space, ENTRIES),
    log: tableSql(space, 'fieldgate_change_log'),
    dropped: tableSql(space, 'fieldgate_changes_dropped'),
    place: tableSql(space, PLACE),
  }
}

/** Start-up: makes the tables of the log, and sees that its places go on. */
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

/** What is in an index is compared by bytes: other collations change with the machine's library, and finds end. */
function createLog({ entries, log, dropped }: LogTables): string {
  return [
    `CREATE TABLE IF NOT EXISTS ${log} (id int PRIMARY KEY CHECK (id = 1), epoch text NOT NULL, place text NOT NULL, base bigint NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${dropped} (model text COLLATE "C" PRIMARY KEY, place bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${entries} (place bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, at bigint NOT NULL, model text COLLATE "C" NOT NULL, record text COLLATE "C" NOT NULL, actor text, before text, after text, PRIMARY KEY (place, seq))`,
    `CREATE INDEX IF NOT EXISTS ${identifier(`${ENTRIES}_of_a_record`)} ON ${entries} (model, record, place, seq)`,
  ].join(';\n')
}

/** The database by its number, which another one that its dump is restored to does not have. */
const DATABASE = `(SELECT oid::text FROM pg_database WHERE datname = current_database())`
const XMIN = 'pg_snapshot_xmin(pg_current_snapshot())::text::bigint'
const XMAX = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint'
const lastOf = (entries: string) => `coalesce((SELECT max(place) FROM ${entries}), 0)`
const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/**
 * Makes the row of the log; anew if it is of a place with other ids of transactions: places go on after the last one, and
 * so do the consumers in the table `consumers`, if it is there.
 */
function keepLog({ entries, log }: LogTables, epoch: string, consumers?: string): Statement {
  const last = lastOf(entries)
  const parameters = new Parameters()
  const values = `1, ${parameters.bind(epoch)}, ${DATABASE}, 0`
  const kept = `INSERT INTO ${log} AS known SELECT ${values}
      ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, place = excluded.place, base = ${last}
      WHERE known.place <> excluded.place OR ${last} >= known.base + ${XMAX}`
  const own = (column: string) =>
    `${column} = replace(${column}, old.epoch || '-', made.epoch || '-')`
  return parameters.statement(
    consumers
      ? `WITH old AS (SELECT epoch FROM ${log}), made AS (${kept} RETURNING epoch)
      UPDATE ${consumers} SET ${own('position')}, ${own('models')} FROM old, made`
      : kept,
  )
}

/** Finds the row of the log if `keepLog` would leave it as it is: a start that writes nothing works on a standby too. */
function findKept({ entries, log }: LogTables): string {
  return `SELECT 1 FROM ${log} WHERE place = ${DATABASE} AND ${lastOf(entries)} < base + ${XMAX}`
}

/**
 * The place of an entry. In a function that is volatile, each statement sees what has been committed before itself, and not
 * before the one that calls it: so one statement can write records, which locks them, and then add their entries.
 */
function createPlace({ log, place }: LogTables): string {
  return `CREATE FUNCTION ${place}(locked bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $place$
BEGIN
  RETURN (SELECT base + greatest(pg_current_xact_id()::text::bigint, ${XMAX} - 1) FROM ${log});
END $place$`
}

/** Adds entries. All that they tell of is locked by now, or by `written`, which comes before in the same step. */
export function addEntries(
  { entries, log, place }: LogTables,
  noted: readonly Noted[],
  written: (parameters: Parameters) => string = () => 'SELECT',
): Statement {
  const parameters = new Parameters()
  const rows = noted.map((one) => [one.model, one.record, one.by, one.before, one.after])
  const list = parameters.bind(JSON.stringify(rows), 'json')
  const columns = [0, 1, 2, 3, 4].map((at) => `entry ->> ${at}`).join(', ')
  return parameters.statement(
    `WITH written AS (${written(parameters)}), done AS (SELECT count(*) AS locked FROM written),
      added AS (INSERT INTO ${entries} (place, at, model, record, actor, before, after)
        SELECT ${place}(locked), ${NOW_MS}, ${columns} FROM done, json_array_elements(${list}) WITH ORDINALITY AS list(entry, number) ORDER BY number
        RETURNING place, seq, at, model, record)
      SELECT (SELECT epoch FROM ${log}), place, seq, at, model, record FROM added ORDER BY place, seq`,
  )
}

/** The position in the first columns of a row; the beginning, if they are empty. */
export function idOf([epoch, place, seq, at]: Row): string {
  const numbers = [place, seq, at].map((one) => Number(one ?? 0))
  return positionText({ epoch: String(epoch), numbers })
}

/** Drops the oldest entries of a model, if they are older than it keeps them, and nobody else has dropped more meanwhile. */
export function dropOld(tables: LogTables, { model, keepMs }: LoggedModel): string {
  const { entries, dropped } = tables
  const own = `model = ${literal(model)}`
  const known = `(SELECT place, seq FROM ${dropped} WHERE ${own} UNION ALL SELECT -1, -1 ORDER BY place DESC, seq DESC LIMIT 1)`
  return `WITH known AS ${known},
    oldest AS (SELECT place, seq, at FROM ${entries}
      WHERE (place, seq) > ((SELECT place FROM known), (SELECT seq FROM known)) AND place < ${horizonOf(tables)}
      ORDER BY place, seq LIMIT ${MAX_DROPPED}),
    young AS (SELECT place, seq FROM oldest WHERE at >= ${NOW_MS} - ${Math.ceil(keepMs)} ORDER BY place, seq LIMIT 1),
    last AS (SELECT place, seq, at FROM oldest
      WHERE NOT EXISTS (SELECT FROM young WHERE (young.place, young.seq) <= (oldest.place, oldest.seq))
      ORDER BY place DESC, seq DESC LIMIT 1),
    noted AS (INSERT INTO ${dropped} AS mark SELECT ${literal(model)}, place, seq, at FROM last
      ON CONFLICT (model) DO UPDATE SET place = excluded.place, seq = excluded.seq, at = excluded.at
      WHERE (mark.place, mark.seq) < (excluded.place, excluded.seq)
      RETURNING place, seq)
    DELETE FROM ${entries} AS entry USING noted
      WHERE entry.${own} AND (entry.place, entry.seq) > ((SELECT place FROM known), (SELECT seq FROM known))
        AND (entry.place, entry.seq) <= (noted.place, noted.seq)`
}

/** The first place that may still get entries. */
export function horizonOf({ log }: LogTables): string {
  return `(SELECT base FROM ${log}) + ${XMIN}`
}

/**
 * The log of changes in SQLite, as its readers see it.
 *
 * @module
 */

import type { ChangeLog, LoggedChange, LoggedModel } from '../../../../src/ports/changes.ts'
import type { MaybePromise } from '../../../../src/ports/maybe-promise.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { LoggedModels, type StoredEntry } from '../../changes/entries.ts'
import { type Position, positionIn, positionText } from '../../changes/position.ts'
import { Wakes } from '../../changes/wakes.ts'
import { portError } from '../layout/errors.ts'
import type { Row, Statement } from '../layout/sql.ts'
import { DROPPED, ENTRIES, LOG } from './log-tables.ts'

/** A log, and what its store must tell it. */
export interface OwnLog extends ChangeLog {
  /** The models whose entries it can read, once their tables are there. */
  prepared(schemas: readonly CollectionSchema[]): void
  /** The models that it drops old entries of. */
  readonly logged: readonly LoggedModel[]
  /** Tells that a write has added entries. */
  notify(): void
}

/** The log in a database that `ask` reads. */
export function openLog(ask: (statement: Statement) => MaybePromise<readonly Row[]>): OwnLog {
  const models = new LoggedModels()
  const rows = async (statement: Statement) => {
    try {
      return await ask(statement)
    } catch (error) {
      throw portError(error, undefined)
    }
  }
  const position = async () => {
    const [row] = await rows({ sql: `SELECT epoch, seq, at FROM ${LOG}`, values: [] })
    return idOf(row ?? {})
  }
  const wakes = new Wakes(position)
  const changesIn = (found: readonly Row[]): LoggedChange[] =>
    found.flatMap((row) => models.change(idOf(row), row as unknown as StoredEntry) ?? [])

  return {
    position,
    async read(after, { limit, models: asked = models.names }) {
      const from = after === undefined ? undefined : positionIn(after, 2)
      if (after !== undefined && !from) return { gone: true }
      const [seq = 0] = from?.numbers ?? []
      const found = await rows({ sql: READ, values: [seq, JSON.stringify(asked), limit] })
      const [first] = found
      if (!first || (from && isGone(from, first))) return { gone: true }
      const entries = found.filter((row) => row.seq !== null)
      return { changes: changesIn(entries), position: positionOf(first, entries, limit) }
    },
    async history(model, record, { limit, upTo }) {
      const last = upTo === undefined ? undefined : positionIn(upTo, 2)
      const most = upTo === undefined ? Number.MAX_SAFE_INTEGER : (last?.numbers[0] ?? 0)
      const found = await rows({ sql: HISTORY, values: [model, record, most, limit] })
      // Of another database, it is the position of nothing here.
      return last && last.epoch !== found[0]?.epoch ? [] : changesIn(found)
    },
    wake: wakes.wake,
    prepared: (schemas) => models.prepared(schemas),
    get logged() {
      return models.all
    },
    notify: () => wakes.notify(),
  }
}

const COLUMNS = 'e.seq, e.at, e.model, e.actor, e.before, e.after'

/**
 * One statement, so all of it is of one moment: the end of the log, up to where entries may have been dropped, the time of
 * the entry at the position, and the entries after it; one row without any if there are none. The plus sign keeps SQLite
 * from the index of the models, by which it would go through all entries of theirs.
 */
const READ = `SELECT l.epoch, l.seq AS last, l.at AS last_at,
  (SELECT max(d.seq) FROM ${DROPPED} AS d WHERE d.model IN (SELECT value FROM json_each(?2))) AS dropped,
  (SELECT k.at FROM ${ENTRIES} AS k WHERE k.seq = ?1) AS known_at, ${COLUMNS}
  FROM ${LOG} AS l LEFT JOIN (SELECT * FROM ${ENTRIES} WHERE seq > ?1 AND +model IN (SELECT value FROM json_each(?2)) ORDER BY seq LIMIT ?3) AS e
  ORDER BY e.seq`

const HISTORY = `SELECT l.epoch, ${COLUMNS} FROM ${ENTRIES} AS e JOIN ${LOG} AS l WHERE e.model = ?1 AND e.record = ?2 AND e.seq <= ?3 ORDER BY e.seq DESC LIMIT ?4`

/** Whether entries after a position may be missing, or it is of another database. */
function isGone({ epoch, numbers: [seq = 0, at = 0] }: Position, row: Row): boolean {
  if (row.epoch !== epoch || seq > Number(row.last) || seq < Number(row.dropped ?? 0)) return true
  // After a copy of the database was put in its place, other entries get the same numbers.
  return row.known_at === null ? at > Number(row.last_at) : at !== Number(row.known_at)
}

/** Where to read on: after the end of the log, if what was found is all that is there. */
function positionOf(first: Row, entries: readonly Row[], limit: number): string {
  const last = entries.at(-1)
  const isEnd = entries.length < limit && Number(last?.seq ?? 0) < Number(first.last)
  const end = { epoch: first.epoch ?? null, seq: first.last ?? null, at: first.last_at ?? null }
  return isEnd || !last ? idOf(end) : idOf(last)
}

function idOf({ epoch, seq, at }: Row): string {
  return positionText({ epoch: String(epoch), numbers: [Number(seq), Number(at)] })
}

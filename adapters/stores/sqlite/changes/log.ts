/**
 * The log of changes in SQLite, as its readers see it.
 *
 * @module
 */

import type {
  ChangeKind,
  ChangeLog,
  LoggedChange,
  LoggedModel,
} from '../../../../src/ports/changes.ts'
import type { MaybePromise } from '../../../../src/ports/maybe-promise.ts'
import type { CollectionSchema, Fields } from '../../../../src/ports/store.ts'
import { type Position, positionIn, positionText } from '../../change-position.ts'
import { Wakes } from '../../change-wakes.ts'
import { portError } from '../layout/errors.ts'
import { readerOf } from '../layout/records.ts'
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

/** The log in a database that `rows` reads; its errors are the port's. */
export function openLog(ask: (statement: Statement) => MaybePromise<readonly Row[]>): OwnLog {
  const rows = async (statement: Statement) => {
    try {
      return await ask(statement)
    } catch (error) {
      throw portError(error, undefined)
    }
  }
  const models = new Map<string, Known>()

  async function position(): Promise<string> {
    const [row] = await rows({ sql: `SELECT epoch, seq, at FROM ${LOG}`, values: [] })
    return positionText({ epoch: String(row?.epoch), ...numbersIn(row) })
  }
  const wakes = new Wakes(position)

  const changesIn = (epoch: string, found: readonly Row[]): LoggedChange[] =>
    found.flatMap((row) => {
      const known = models.get(String(row.model))
      return known ? [changeIn(row, epoch, known)] : []
    })

  return {
    position,
    async read(after, { limit, models: asked = [...models.keys()] }) {
      const from = after === undefined ? undefined : positionIn(after)
      if (!from && after !== undefined) return { gone: true }
      const names = JSON.stringify(asked)
      const found = await rows({ sql: READ, values: [from?.first ?? -1, names, limit] })
      const [first] = found
      if (!first || (from && isGone(from, first))) return { gone: true }
      const epoch = String(first.epoch)
      const entries = found.filter(({ seq }) => seq !== null)
      const last = entries.length < limit ? ends(first, entries.at(-1)) : numbersIn(entries.at(-1))
      return { changes: changesIn(epoch, entries), position: positionText({ epoch, ...last }) }
    },
    async history(model, record, { limit, upTo }) {
      const most = upTo === undefined ? { first: Number.MAX_SAFE_INTEGER } : positionIn(upTo)
      if (!most) return []
      const found = await rows({ sql: HISTORY, values: [model, record, most.first, limit] })
      const changes = changesIn(String(found[0]?.epoch), found)
      // Of another database, it is the position of nothing here.
      return upTo === undefined || changes[0] === undefined || sameEpoch(changes[0].id, upTo)
        ? changes
        : []
    },
    wake: wakes.wake,
    prepared(schemas) {
      for (const { logged, shape } of schemas) {
        if (logged) models.set(logged.model, { logged, parse: readerOf(shape) })
      }
    },
    get logged() {
      return [...models.values()].map(({ logged }) => logged)
    },
    notify: () => wakes.notify(),
  }
}

interface Known {
  readonly logged: LoggedModel
  readonly parse: (text: string) => Fields
}

const COLUMNS = 'e.seq, e.at, e.model, e.actor, e.before, e.after'

/**
 * One statement, so all of it is of one moment: the end of the log, up to where entries may have been dropped, the time of
 * the entry at the position, and the entries after it; one row without any if there are none.
 */
const READ = `SELECT l.epoch, l.seq AS last, l.at AS last_at,
  (SELECT max(d.seq) FROM ${DROPPED} AS d WHERE d.model IN (SELECT value FROM json_each(?2))) AS dropped,
  (SELECT k.at FROM ${ENTRIES} AS k WHERE k.seq = ?1) AS known_at, ${COLUMNS}
  FROM ${LOG} AS l LEFT JOIN (SELECT * FROM ${ENTRIES} WHERE seq > ?1 AND model IN (SELECT value FROM json_each(?2)) ORDER BY seq LIMIT ?3) AS e
  ORDER BY e.seq`

const HISTORY = `SELECT l.epoch, ${COLUMNS} FROM ${ENTRIES} AS e JOIN ${LOG} AS l WHERE e.model = ?1 AND e.record = ?2 AND e.seq <= ?3 ORDER BY e.seq DESC LIMIT ?4`

/** Whether entries after a position may be missing, or it is of another database. */
function isGone({ epoch, first, second }: Position, row: Row): boolean {
  if (row.epoch !== epoch || first > Number(row.last) || first < Number(row.dropped ?? 0))
    return true
  // After a copy of the database was put in its place, other entries get the same numbers.
  if (row.known_at !== null) return Number(row.known_at) !== second
  return second > Number(row.last_at)
}

/** The end of the log as it was when the entries were read. */
function ends(row: Row, entry: Row | undefined): Pick<Position, 'first' | 'second'> {
  const last = { first: Number(row.last), second: Number(row.last_at) }
  return entry && Number(entry.seq) >= last.first ? numbersIn(entry) : last
}

function numbersIn(row: Row | undefined): Pick<Position, 'first' | 'second'> {
  return { first: Number(row?.seq), second: Number(row?.at) }
}

function sameEpoch(id: string, other: string): boolean {
  return positionIn(id)?.epoch === positionIn(other)?.epoch
}

function changeIn(row: Row, epoch: string, { parse }: Known): LoggedChange {
  const parsed = (text: unknown) => (typeof text === 'string' ? parse(text) : null)
  const before = parsed(row.before)
  const after = parsed(row.after)
  const kind: ChangeKind = before === null ? 'created' : after === null ? 'removed' : 'updated'
  const by = typeof row.actor === 'string' ? row.actor : null
  const id = positionText({ epoch, ...numbersIn(row) })
  return { id, at: new Date(Number(row.at)), model: String(row.model), kind, before, after, by }
}

/** The log of changes in PostgreSQL, as its readers see it. */

import type { ChangeLog, LoggedChange, NotedChange } from '../../../../src/ports/store/changes.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { LoggedModels, nextPosition, noLog, timesToDrop } from '../../changes/entries.ts'
import type { Noted } from '../../changes/noting.ts'
import { type Position, positionIn } from '../../changes/position.ts'
import { Wakes } from '../../changes/wakes.ts'
import type { Connection } from '../connection/connection.ts'
import { isEmptyColumn, ported } from '../layout/errors.ts'
import type { Row, Run } from '../layout/rows.ts'
import { arrayText, Parameters as Bound, type Statement } from '../layout/sql.ts'
import { addEntries, dropOld, horizonOf, idOf, logTables } from './log-tables.ts'

export class Log implements ChangeLog {
  readonly #connection: Connection
  readonly #tables: ReturnType<typeof logTables>
  readonly #models = new LoggedModels()
  readonly #wakes = new Wakes(() => this.position())
  readonly wake: ChangeLog['wake'] = this.#wakes.wake
  /** Whether a statement alone may add entries: not where the database isolates it more than `createPlace` allows for. */
  isPlain = false

  constructor(connection: Connection, space: string) {
    this.#connection = connection
    this.#tables = logTables(space)
  }

  async #ask(statement: Statement): Promise<readonly Row[]> {
    return (await ported(this.#connection.run(statement))).rows
  }

  async position(): Promise<string> {
    const { log } = this.#tables
    const sql = `SELECT l.epoch, last.* FROM ${log} AS l LEFT JOIN (${this.#last()}) AS last ON TRUE`
    const [row = []] = await this.#ask({ sql, values: [] })
    return idOf(row)
  }

  readonly read: ChangeLog['read'] = async (
    after,
    { limit, models = this.#models.names, lossy },
  ) => {
    const from = after === undefined ? START : positionIn(after, 3)
    if (!from) return { gone: true }
    const rows = await this.#ask(this.#reading(from, limit, models))
    const [end = []] = rows
    const [epoch = null, isKnown, isDropped] = end
    const isOther = epoch !== from.epoch || isKnown !== 't'
    if (after !== undefined && (isOther || (isDropped === 't' && !lossy))) return { gone: true }
    const entries = rows.map((row) => [epoch, ...row.slice(END)]).filter(([, one]) => one !== null)
    const last = idOf([epoch, ...end.slice(3)])
    const position = nextPosition(entries.map(idOf), last, limit, after)
    return { changes: this.#changes(entries), position }
  }

  readonly history: ChangeLog['history'] = async (model, record, { limit, upTo }) => {
    const last = upTo === undefined ? undefined : positionIn(upTo, 3)
    if (upTo !== undefined && !last) return []
    const { entries, log } = this.#tables
    const parameters = new Bound()
    const here = last?.numbers.slice(0, 2).map((one) => parameters.integer(one))
    const most = here ? `(e.place, e.seq) <= (${here.join(', ')})` : 'TRUE'
    const of = `e.model = ${parameters.bind(model)} AND e.record = ${parameters.bind(record)}`
    const sql = `SELECT l.epoch, ${COLUMNS} FROM ${entries} AS e, ${log} AS l WHERE ${of} AND ${most} ORDER BY e.place DESC, e.seq DESC LIMIT ${limit}`
    const rows = await this.#ask(parameters.statement(sql))
    const [[epoch] = []] = rows
    return last && last.epoch !== epoch ? [] : this.#changes(rows)
  }

  /** Adds entries, in a transaction whose steps have been taken, or in one step with the statement `written`. */
  async add(
    noted: readonly Noted[],
    run: Run,
    written?: (parameters: Bound) => string,
  ): Promise<NotedChange[]> {
    if (noted.length === 0) return []
    const { rows } = await run(addEntries(this.#tables, noted, written)).catch(throwUnplaced)
    return rows.map((row) => ({ id: idOf(row), model: String(row[4]), record: String(row[5]) }))
  }

  /** After a write that has added so many entries. */
  notify(added: number): void {
    this.#wakes.notify()
    void this.#drop(timesToDrop(added)).catch(() => {})
  }

  async prepared(schemas: readonly CollectionSchema[]): Promise<void> {
    this.#models.prepared(schemas)
    const sql = `SELECT current_setting('default_transaction_isolation')`
    const [[isolation] = []] = await this.#ask({ sql, values: [] })
    this.isPlain = isolation === 'read committed'
    // One that takes no writes is read all the same.
    await this.#drop(1).catch(() => {})
  }

  #drop(times: number): Promise<void> {
    return this.#models.dropOld(times, (one) => this.#connection.rows(dropOld(this.#tables, one)))
  }

  #changes(entries: readonly Row[]): LoggedChange[] {
    return entries.flatMap((entry) => {
      const [, , , at, model, actor, before, after] = entry
      const stored = { at, model, actor, before, after }
      return this.#models.change(idOf(entry), stored) ?? []
    })
  }

  /** The last entry that nothing comes before any more, dropped ones included. */
  #last(): string {
    const { entries, dropped } = this.#tables
    const there = `SELECT place, seq, at FROM ${entries} WHERE place < ${horizonOf(this.#tables)} ORDER BY place DESC, seq DESC LIMIT 1`
    return `SELECT place, seq, at FROM ((${there}) UNION ALL SELECT place, seq, at FROM ${dropped}) AS ends ORDER BY place DESC, seq DESC LIMIT 1`
  }

  /**
   * One statement, so all of it is of one moment: whether the position is one of the log, whether entries after it may have
   * been dropped, the end, and the entries after the position; one row without any if there are none.
   */
  #reading(
    { numbers: [place = 0, seq = 0, at = 0] }: Position,
    limit: number,
    models: readonly string[],
  ): Statement {
    const { entries, log, dropped } = this.#tables
    const parameters = new Bound()
    const [first, second, third] = [place, seq, at].map((one) => parameters.integer(one))
    const names = parameters.bind(arrayText(models), 'text[]')
    const here = `(${first}, ${second})`
    const isKnown = `${first} = 0 OR EXISTS (SELECT FROM ${entries} WHERE (place, seq, at) = (${first}, ${second}, ${third}))
      OR EXISTS (SELECT FROM ${dropped} WHERE (place, seq) >= ${here})`
    const isDropped = `EXISTS (SELECT FROM ${dropped} WHERE (place, seq) > ${here} AND model = ANY (${names}))`
    const found = `SELECT ${COLUMNS} FROM ${entries} AS e WHERE (e.place, e.seq) > ${here} AND e.place < ${horizonOf(this.#tables)} AND e.model = ANY (${names}) ORDER BY e.place, e.seq LIMIT ${limit}`
    return parameters.statement(
      `SELECT l.epoch, ${isKnown}, ${isDropped}, last.place, last.seq, last.at, e.* FROM ${log} AS l
        LEFT JOIN (${this.#last()}) AS last ON TRUE LEFT JOIN (${found}) AS e ON TRUE ORDER BY e.place, e.seq`,
    )
  }
}

/** A place is that of the log's row and on; without it an entry has none. */
function throwUnplaced(error: unknown): never {
  throw isEmptyColumn(error, 'place') ? noLog() : error
}

/** Before every entry. */
const START: Position = { epoch: '', numbers: [0, 0, 0] }

const COLUMNS = 'e.place, e.seq, e.at, e.model, e.actor, e.before, e.after'
/** How many columns come before those of the entry. */
const END = 6

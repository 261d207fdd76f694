/** The reads of one collection. */

import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import { mapInTurns } from '../../../../src/ports/promises/turns.ts'
import { everything, type Filter, type Scalar } from '../../../../src/ports/store/filter.ts'
import { project } from '../../../../src/ports/store/projection.ts'
import type { Read, ReadHints } from '../../../../src/ports/store/records.ts'
import type { Collection } from '../../../../src/ports/store/store.ts'
import { AnchorGone, QueryTooLong } from '../../../../src/ports/store/store-errors.ts'
import { shownText } from '../../json-values.ts'
import { idOf, isOne, isQuick, namesOne } from '../../planner/seek.ts'
import { whereAll } from '../../sql/filter.ts'
import { type FoundRows, fieldJson, partOf, type Search } from '../layout/records.ts'
import type { Runner } from '../layout/runner.ts'
import { isStamped, withoutSign } from '../layout/schema-stamps.ts'
import { isLonger, type Row, type SqlValue, type Statement } from '../layout/sql.ts'
import { compileGroups, groupReader, isCovered } from './aggregate.ts'
import { type Compilation, compileFilter, type Target } from './filter.ts'
import { KeptStatements, readShape } from './kept.ts'
import { compilePage } from './page.ts'

export function readsOf(
  target: Target,
): Pick<Collection, 'find' | 'findJson' | 'count' | 'aggregate' | 'estimate'> {
  const { table, parse, stamps, compilation, runner, filler } = target
  const textsOf = textReader(target)
  const show = textsShower(target)
  const count = async (filter: Filter, hints?: ReadHints): Promise<number> => {
    const counted = () => {
      const compiled = compilation()
      // SQLite counts a whole table without reading each row.
      const conditions = filter === everything ? [] : conditionsInTime(filter, compiled, runner)
      const sql = `SELECT count(*) AS count FROM ${table}${whereAll(conditions)}`
      return runner.count(compiled.parameters.statement(sql), filter, hints)
    }
    return filler.searched(filter, counted, hints)
  }

  return {
    async find(read) {
      const texts = await textsOf(read, 'doc')
      const { select } = read
      const make = select ? (text: string) => project(parse(text), select) : parse
      return texts.length === 1 ? texts.map(make) : mapInTurns(texts, lengthOf, make)
    },

    findJson(read) {
      try {
        const doc = read.select && stamps && partOf(target.schema.shape, read.select)
        const texts = textsOf(read, stamps?.shown(doc) ?? 'doc')
        const how = doc ? { ...read, isCut: true } : read
        return texts instanceof Promise ? texts.then((all) => show(all, how)) : show(texts, how)
      } catch (error) {
        return Promise.reject(error)
      }
    },

    count,
    estimate: () => count(everything),

    async aggregate(read) {
      const { filter, hints } = read
      const group = () => {
        const compiled = compilation()
        const isScan = isCovered(target.schema, read)
        const conditions = isScan ? [] : conditionsInTime(filter, compiled, runner)
        const sql = compileGroups(read, table, conditions, compiled)
        const statement = { ...compiled.parameters.statement(sql), inLists: true }
        return runner.read(statement, hints, isScan)
      }
      const found = await filler.searched(filter, group, hints)
      return found.map(groupReader(read, target.schema.shape))
    },
  }
}

/**
 * The conditions of a read that may take long. Throws `QueryTooLong` for those that take more than half of a
 * statement: the other half is for the order and the position, so that no later page is refused if the first is not.
 */
function conditionsInTime(
  filter: Filter,
  compiled: Compilation,
  { deadline, maxBytes }: Runner,
): string[] {
  const condition = compileFilter(filter, compiled)
  if (maxBytes && isLonger(condition, maxBytes / 2)) throw new QueryTooLong()
  return deadline && !namesOne(filter) ? [deadline, condition] : [condition]
}

/** Returns what reads one value, given as SQL, of each record: a column named by its place, so that rows may be lists. */
function textReader(target: Target): (read: Read, value: string) => MaybePromise<string[]> {
  const { table, runner, filler } = target
  const statementOf = statementsOf(target)

  /**
   * `read` with the position of the record to start after, if that is quickly read. The page's statement is then a third
   * faster than with the position looked up inside it, which is for databases where each statement is a round trip.
   */
  const withPosition = async (read: Read): Promise<Read> => {
    const { afterRecord: filter, ...page } = read
    if (!filter || !runner.quick || !isQuick(filter)) return read
    const columns = read.sort.map(
      ({ field }, at) => `${fieldJson(field, target.schema.shape)} AS "${at}"`,
    )
    const [row] = await runner.quick(
      statementOf({ filter, sort: [], limit: 1 }, columns.join(', ')),
    )
    if (!row) throw new AnchorGone()
    const after = read.sort.map((_, at): Scalar => JSON.parse(String(row[at] ?? null)))
    return { ...page, after }
  }

  const pageOf = (read: Read, columns: string): MaybePromise<readonly Row[]> => {
    const { filter, hints } = read
    const page = (found?: FoundRows) => runner.read(statementOf(read, columns, found), hints)
    if (!mayContain(filter)) return page()
    const search = async (searches: readonly Search[]) =>
      page(await runner.found?.(searches, hints))
    return filler.searched(filter, (all) => (all.length === 0 ? page() : search(all)), hints)
  }

  const several = async (read: Read, columns: string): Promise<string[]> => {
    const { afterRecord, limit, hints } = read
    const page = afterRecord ? await withPosition(read) : read
    const rows = limit === 0 ? [] : await pageOf(page, columns)
    if (rows.length > 0 || !afterRecord) return firstOf(rows)
    const anchor = statementOf({ filter: afterRecord, sort: [], limit: 1 }, '1')
    if ((await runner.read(anchor, hints)).length === 0) throw new AnchorGone()
    return []
  }

  /** The last statement of a read by id: a text put together again has to be hashed again. */
  let oneById = { value: '', sql: '' }

  return (read, value) => {
    const id = runner.quick && idOf(read)
    if (!runner.quick || (id === undefined && !isOne(read))) return several(read, `${value} AS "0"`)
    if (oneById.value !== value) {
      oneById = { value, sql: `SELECT ${value} AS "0" FROM ${table} WHERE _id = ?1` }
    }
    const rows = runner.quick(
      id === undefined ? statementOf(read, `${value} AS "0"`) : { sql: oneById.sql, values: [id] },
    )
    return rows instanceof Promise ? rows.then(firstOf) : firstOf(rows)
  }
}

/** Returns the statements of reads: they select `columns` of what was `found` first. */
function statementsOf({ table, compilation, runner }: Target) {
  const pages = new KeptStatements()
  return (read: Read, columns: string, found?: FoundRows): Statement => {
    // A page of more records, or behind more, takes so long that it must be able to end early.
    const isShort = read.limit <= FEW && (read.skip ?? 0) <= MOST_SKIPPED
    const values: SqlValue[] = []
    const shape = readShape(read, values, found)
    const key = shape && `${columns} ${isShort} ${shape}`
    return pages.of(key, values, () => {
      const compiled = { ...compilation(), candidates: undefined, found }
      const conditions = conditionsInTime(read.filter, compiled, runner)
      const from = { columns, table, maxBytes: runner.maxBytes }
      const sql = compilePage(from, read, conditions, compiled)
      const free = isShort && !read.afterRecord && runner.unchecked?.(sql, read.filter)
      return { ...compiled.parameters.statement(free || sql), inLists: true }
    })
  }
}

const FEW = 200
/** An index skips so many records in 6 ms; with a check of the time it takes twice as long. */
const MOST_SKIPPED = 200_000

/** Whether a filter has a search; most have none. */
function mayContain(filter: Filter): boolean {
  return 'filters' in filter ? filter.filters.some(mayContain) : filter.op === 'contains'
}

function firstOf(rows: readonly Row[]): string[] {
  return rows.map((row) => row[0] as string)
}

/**
 * Returns the stored JSON of each record if everything in it is declared and selected (`isCut`, by the statement) and no
 * default is missing, else the JSON of the record as it is to be shown.
 */
function textsShower({ schema, stamps }: Target) {
  // In a JavaScript object such names come first, wherever they are in the JSON.
  const hasNumberedField = [...schema.shape.fields.keys()].some((name) => /^\d+$/.test(name))
  const isDeclared = stamps ? isStamped : () => true
  return (given: string[], read: Shown): MaybePromise<string[]> => {
    const { isCut = !read.select } = read
    const isWhole = isCut && !hasNumberedField
    if (isWhole && given.every(isDeclared)) return given
    return mapInTurns(given, lengthOf, (text) => {
      if (!isDeclared(text)) return shownText(JSON.parse(withoutSign(text)), schema, read)
      return isWhole ? text : shownText(JSON.parse(text), schema, read)
    })
  }
}

type Shown = Pick<Read, 'select' | 'fillDefaults'> & { readonly isCut?: boolean }

function lengthOf(text: string): number {
  return text.length
}

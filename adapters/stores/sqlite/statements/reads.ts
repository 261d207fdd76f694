/**
 * The reads of one collection.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../../src/ports/declared.ts'
import { everything, type Filter, type Scalar } from '../../../../src/ports/filter.ts'
import { project } from '../../../../src/ports/projection.ts'
import type { Soon } from '../../../../src/ports/soon.ts'
import {
  AnchorGone,
  type Collection,
  type Fields,
  QueryTooLong,
  type Read,
  type ReadHints,
} from '../../../../src/ports/store.ts'
import { mapInTurns } from '../../../../src/ports/turns.ts'
import { idOf, namesOne } from '../../planner/filter.ts'
import { whereAll } from '../../sql/conditions.ts'
import { fieldJson } from '../layout/fields.ts'
import { textOf } from '../layout/rows.ts'
import type { Runner } from '../layout/runner.ts'
import { isStamped, withoutSign } from '../layout/schema-stamps.ts'
import { isLonger, type Row } from '../layout/sql.ts'
import type { Filler } from '../search/filling.ts'
import { type Compilation, compileFilter, searchesIn, where } from './filter.ts'
import { compilePage } from './page.ts'
import type { Target } from './target.ts'

/** The reads of `target`, whose statements `runner` runs. */
export function readsOf(
  target: Target,
  runner: Runner,
  filler: Filler,
): Pick<Collection, 'find' | 'findJson' | 'count' | 'estimate'> {
  const { schema, table, parse, stamps, compilation } = target
  const textsOf = textReader(target, runner, filler)
  const show = textsShower(target)

  return {
    async find(read) {
      const texts = await textsOf(read, 'doc')
      return mapInTurns(texts, lengthOf, (text) => project(parse(text), read.select))
    },

    findJson(read) {
      try {
        const texts = textsOf(read, stamps?.shown() ?? 'doc')
        return texts instanceof Promise ? texts.then((all) => show(all, read)) : show(texts, read)
      } catch (error) {
        return Promise.reject(error)
      }
    },

    async count(filter, hints) {
      const count = () => {
        const compiled = compilation()
        // SQLite counts a whole table without reading each row.
        const conditions = filter === everything ? [] : conditionsInTime(filter, compiled, runner)
        const sql = `SELECT count(*) AS count FROM ${table}${whereAll(conditions)}`
        return runner.count(compiled.parameters.statement(sql), filter, hints)
      }
      const searches = schema.searchable.length > 0 ? searchesIn(filter, compilation().shadows) : []
      return searches.length === 0 ? count() : filler.searched(searches, count, hints)
    },

    async estimate() {
      const sql = `SELECT count(*) AS count FROM ${table}`
      return runner.count({ sql, values: [] }, everything)
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

/**
 * Returns what reads one value, given as SQL, of each record. It is a column that is named by its place in a row, so that
 * a row may also be a list.
 */
function textReader(
  { table, compilation }: Target,
  runner: Runner,
  filler: Filler,
): (read: Read, value: string) => Soon<string[]> {
  /** No records, if they come after one that is there. */
  const noneAfter = async (anchor: Filter, hints?: ReadHints): Promise<string[]> => {
    const compiled = compilation()
    const sql = `SELECT 1 FROM ${table}${where(anchor, compiled)} LIMIT 1`
    const found = await runner.read(compiled.parameters.statement(sql), hints)
    if (found.length === 0) throw new AnchorGone()
    return []
  }

  /**
   * `read` with the position of the record to start after, if that is quickly read. The page's statement is then a third
   * faster than with the position looked up inside it, which is for databases where each statement is a round trip.
   */
  const withPosition = async (read: Read): Promise<Read> => {
    const { afterRecord, ...others } = read
    if (!afterRecord || !runner.quick || !isQuick(afterRecord)) return read
    const compiled = compilation()
    const { shape, parameters } = compiled
    const values = read.sort.map(({ field }, at) => `${fieldJson(field, shape)} AS "${at}"`)
    const sql = `SELECT ${values} FROM ${table}${where(afterRecord, compiled)}`
    const [row] = await runner.quick(parameters.statement(sql))
    if (!row) throw new AnchorGone()
    const after = read.sort.map((_, at): Scalar => JSON.parse(String(row[at] ?? null)))
    return { ...others, after }
  }

  const pageOf = async (read: Read, columns: string): Promise<readonly Row[]> => {
    const compiled = compilation()
    const rowsWith = async (found: Compilation) => {
      const conditions = conditionsInTime(read.filter, found, runner)
      const from = { columns, table, maxBytes: runner.maxBytes }
      const sql = compilePage(from, read, conditions, found)
      return runner.read({ ...found.parameters.statement(sql), inLists: true }, read.hints)
    }
    const searches = searchesIn(read.filter, compiled.shadows)
    if (searches.length === 0) return rowsWith(compiled)
    const search = async () => {
      const candidates = await runner.found?.(searches, read.hints)
      return rowsWith({ ...compilation(), candidates })
    }
    return filler.searched(searches, search, read.hints)
  }

  const several = async (read: Read, columns: string): Promise<string[]> => {
    const { afterRecord, limit, hints } = read
    const rows =
      limit === 0 ? [] : await pageOf(afterRecord ? await withPosition(read) : read, columns)
    if (rows.length === 0 && afterRecord) return noneAfter(afterRecord, hints)
    return firstOf(rows)
  }

  /** A record by its id and other values: nothing takes long. */
  const one = (read: Read, columns: string): Soon<readonly Row[]> => {
    const compiled = compilation()
    const sql = `SELECT ${columns} FROM ${table}${where(read.filter, compiled)}`
    return runner.quick?.(compiled.parameters.statement(sql)) ?? []
  }

  return (read, value) => {
    const columns = `${value} AS "0"`
    if (!runner.quick) return several(read, columns)
    const id = idOf(read)
    if (id === undefined && !isOne(read)) return several(read, columns)
    const rows =
      id === undefined
        ? one(read, columns)
        : runner.quick({ sql: `SELECT ${columns} FROM ${table} WHERE _id = ?1`, values: [id] })
    return rows instanceof Promise ? rows.then(firstOf) : firstOf(rows)
  }
}

/** Whether a read is one of a record by its id, with nothing else that may take long. */
function isOne({ filter, after, afterRecord, skip = 0, limit }: Read): boolean {
  return isQuick(filter) && !after && !afterRecord && skip === 0 && limit > 0
}

function isQuick(filter: Filter): boolean {
  if (filter.op !== 'and') return namesOne(filter)
  return filter.filters.every(({ op }) => op === 'eq') && namesOne(filter)
}

/** The first column of rows. */
function firstOf(rows: readonly Row[]): string[] {
  return rows.map((row) => row[0] as string)
}

/**
 * Returns the stored JSON of each record if everything in it is declared and selected and no default is missing, else
 * the JSON of the record as it is to be shown.
 */
function textsShower({
  schema: { shape, declared },
  stamps,
}: Target): (given: string[], read: Pick<Read, 'select' | 'fillDefaults'>) => Soon<string[]> {
  // In a JavaScript object such names come first, wherever they are in the JSON.
  const hasNumberedField = [...shape.fields.keys()].some((name) => /^\d+$/.test(name))
  const isDeclared = (given: string) => !stamps || isStamped(given)
  const declaredOf = (given: string): unknown => {
    if (isDeclared(given)) return JSON.parse(given)
    const record: unknown = JSON.parse(withoutSign(given))
    return declared ? onlyDeclared(declared, record) : record
  }
  return (texts, { select, fillDefaults }) => {
    const asStored = (text: string) => isDeclared(text) && !select && !hasNumberedField
    if (texts.every(asStored)) return texts
    const shown = (text: string): string => {
      const record = declaredOf(text)
      const whole = declared && fillDefaults ? withDefaults(declared, record) : record
      return textOf(project(whole as Fields, select))
    }
    return mapInTurns(texts, lengthOf, (text) => (asStored(text) ? text : shown(text)))
  }
}

function lengthOf(text: string): number {
  return text.length
}

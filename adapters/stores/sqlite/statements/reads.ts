/**
 * Reads of records: one column of a page.
 *
 * @module
 */

import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import type { Soon } from '../../../../src/ports/soon.ts'
import { AnchorGone, QueryTooLong, type Read, type ReadHints } from '../../../../src/ports/store.ts'
import type { Filler } from '../search/filling.ts'
import { isLonger, type Row, type Statement } from '../sql.ts'
import type { Runner } from './collection.ts'
import { type Compilation, fieldJson, isStorable, type Lacking, searchesIn } from './filter.ts'
import { compilePage, isQuick, namesOne } from './page.ts'
import { where, whereAll } from './writes.ts'

/** What records are read from. */
export interface Source {
  readonly runner: Pick<Runner, 'quick' | 'read' | 'found' | 'deadline' | 'mostBytes'>
  /** The table, as an identifier. */
  readonly table: string
  /** What one statement is compiled with. */
  compilation(): Compilation
  readonly filler: Filler
}

/**
 * Like `where`, for a read that may take long. Throws `QueryTooLong` for conditions that take more than half of a
 * statement: the other half is for the order and the position, so that no later page is refused if the first is not.
 */
export function whereInTime(
  filter: Filter,
  compiled: Compilation,
  { deadline, mostBytes }: Source['runner'],
): string[] {
  const conditions = where(filter, compiled)
  if (mostBytes && isLonger(conditions.join(), mostBytes / 2)) throw new QueryTooLong()
  return deadline && !namesOne(filter) ? [deadline, ...conditions] : conditions
}

/**
 * Returns what reads one value, given as SQL, of each record. It is a column that is named by its place in a row, so that
 * a row may also be a list.
 */
export function columnReader({
  runner,
  table,
  compilation,
  filler,
}: Source): (read: Read, value: string) => Soon<string[]> {
  /** No records, if they come after one that is there. */
  const noneAfter = async (anchor: Filter, hints?: ReadHints): Promise<string[]> => {
    const compiled = compilation()
    const sql = `SELECT 1 FROM ${table}${whereAll(where(anchor, compiled))} LIMIT 1`
    const found = await runner.read(compiled.parameters.statement(sql), hints)
    if (found.length === 0) throw new AnchorGone()
    return []
  }

  /** SQL for a record by its id alone, by what it selects: the most frequent statement is compiled once. */
  const byId = new Map<string, string>()

  const oneStatement = (read: Read, columns: string): Statement => {
    const { filter } = read
    const id = filter.op === 'eq' && isStorable(filter.value) ? filter.value : undefined
    const known = byId.get(columns)
    if (typeof id === 'string' && known) return { sql: known, values: [id] }
    const compiled = compilation()
    const sql = compilePage({ columns, table }, read, where(filter, compiled), compiled)
    if (typeof id === 'string') byId.set(columns, sql)
    return compiled.parameters.statement(sql)
  }

  /**
   * The position of the record to start after, if it is quickly read. The page's statement is then a third faster than
   * with the position looked up inside it, which is for databases where each statement is a round trip.
   */
  const positionOf = async ({
    afterRecord,
    sort,
  }: Read): Promise<readonly Scalar[] | undefined> => {
    if (!afterRecord || !runner.quick || !isQuick({ filter: afterRecord })) return undefined
    const compiled = compilation()
    const { shape, parameters } = compiled
    const values = sort.map(({ field }, at) => `${fieldJson(field, shape)} AS "${at}"`)
    const sql = `SELECT ${values} FROM ${table}${whereAll(where(afterRecord, compiled))}`
    const [row] = await runner.quick(parameters.statement(sql))
    if (!row) throw new AnchorGone()
    return sort.map((_, at): Scalar => JSON.parse(String(row[at] ?? null)))
  }

  const pageOf = async (given: Read, columns: string): Promise<readonly Row[]> => {
    const { afterRecord, ...others } = given
    const position = afterRecord && (await positionOf(given))
    const read: Read = position ? { ...others, after: position } : given
    const compiled = compilation()
    const searches = searchesIn(read.filter, compiled.shadows)
    const rowsWith = async (found: Compilation) => {
      const conditions = whereInTime(read.filter, found, runner)
      const from = { columns, table, mostBytes: runner.mostBytes }
      const sql = compilePage(from, read, conditions, found)
      return runner.read({ ...found.parameters.statement(sql), inLists: true }, read.hints)
    }
    // Only a search waits for its candidates.
    if (searches.length === 0) return rowsWith(compiled)
    const search = async (lacking?: Lacking) => {
      const candidates = await runner.found?.(searches, read.hints)
      return rowsWith({ ...compilation(), candidates, lacking })
    }
    return filler.searched(searches, search, read.hints)
  }

  const several = async (read: Read, columns: string): Promise<string[]> => {
    if (read.limit === 0) return read.afterRecord ? noneAfter(read.afterRecord, read.hints) : []
    const rows = await pageOf(read, columns)
    if (rows.length === 0 && read.afterRecord) return noneAfter(read.afterRecord, read.hints)
    return firstOf(rows)
  }

  return (read, value) => {
    const columns = `${value} AS "0"`
    if (!runner.quick || read.limit === 0 || !isQuick(read)) return several(read, columns)
    const rows = runner.quick(oneStatement(read, columns))
    return rows instanceof Promise ? rows.then(firstOf) : firstOf(rows)
  }
}

/** The first column of rows. */
function firstOf(rows: readonly Row[]): string[] {
  return rows.map((row) => row[0] as string)
}

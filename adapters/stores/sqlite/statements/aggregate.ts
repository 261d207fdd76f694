/** Aggregates: the statement, and its rows as values. */

import {
  type AggregateRead,
  type GroupKey,
  PART_LENGTHS,
} from '../../../../src/ports/store/aggregate.ts'
import type { Scalar } from '../../../../src/ports/store/filter.ts'
import {
  dateOfJson,
  type ObjectShape,
  placeOf,
  type Shape,
} from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { whereAll } from '../../sql/filter.ts'
import { type GroupColumn, orderBy, selectGroups, type ValueMeasure } from '../../sql/page.ts'
import { fieldValue, orderOf } from '../layout/records.ts'
import type { Compilation } from './filter.ts'

export function compileGroups(
  read: AggregateRead,
  table: string,
  conditions: readonly string[],
  { shape, parameters }: Compilation,
): string {
  const fields = fieldsOf(read)
  const { by, measures } = read
  // SQLite finds the values of groups in an index by itself, but not those of `max`, nor the part of a key.
  const isCut = by.some(({ part }) => part) || measures.some(({ op }) => op === 'max')
  const isPlain = by.length === 0 || !isCut
  const sqlOf = (field: string) =>
    isPlain ? fieldValue(field, shape) : `f${fields.indexOf(field)}`
  const from = isPlain ? table : `(${valuesIn(read, table, conditions, shape)})`
  const own = (field: string) => isOwn(sqlOf(field), kindOf(field, shape))
  // Of one measure alone, SQLite finds the least and the greatest at an end of an index, but not where it has a filter.
  const [one] = by.length + measures.length === 1 ? measures : []
  const alone = one && 'field' in one ? [own(one.field)] : []
  return selectGroups(read, from, isPlain ? [...conditions, ...alone] : [], {
    key: ({ field, part }) => keyOf(sqlOf(field), part, kindOf(field, shape)),
    measure: ({ op, field }) => {
      const filter = one ? '' : ` FILTER (WHERE ${own(field)})`
      return measureOf(op, sqlOf(field), kindOf(field, shape), filter)
    },
    order: (ordered, descending) => (descending ? `${ordered} DESC` : ordered),
    count: (rows) => `+${parameters.bind(rows)}`,
  })
}

/**
 * Whether a value is of its field's type: what an earlier model or another program has stored as another one does not count.
 * Numbers are less than all strings. An index has true as 1, and a list as its text.
 */
function isOwn(value: string, kind: Kind): string {
  return kind === 'date' ? `${value} GLOB '????-??-??T??:??:??.???Z'` : `${value} < ''`
}

/** The values that groups are made of, in the order of the keys. The limit keeps this a table of its own. */
function valuesIn(
  read: AggregateRead,
  table: string,
  conditions: readonly string[],
  shape: ObjectShape,
): string {
  const columns = fieldsOf(read).map((field, at) => `${fieldValue(field, shape)} AS f${at}`)
  const cut = read.by.findIndex(({ part }) => part !== undefined)
  const sorted = read.by.slice(0, cut === -1 ? undefined : cut)
  // In the directions of the rows: SQLite 3.51 takes these for sorted if the groups are, whatever the directions.
  const order = sorted.map(({ field }, at) => {
    const descending = read.sort.some((key) => key.column === at && key.descending)
    return orderOf({ field, descending }, { shape })
  })
  const from = `FROM ${table}${whereAll(conditions)}${orderBy(order)}`
  return `SELECT ${columns.join(', ')} ${from} LIMIT -1`
}

function fieldsOf({ by, measures }: Pick<AggregateRead, 'by' | 'measures'>): readonly string[] {
  return [...new Set([...by, ...measures].flatMap((one) => ('field' in one ? [one.field] : [])))]
}

/** Whether an index in the order of the keys has all the values, so that a row takes no time to speak of. */
export function isCovered(
  { indexes }: Pick<CollectionSchema, 'indexes'>,
  read: AggregateRead,
): boolean {
  const { filter, by } = read
  if (filter.op !== 'and' || filter.filters.length > 0) return false
  const fields = fieldsOf(read)
  return indexes.some((index) => {
    const names = index.map(({ field }) => field)
    return (
      (by.length === 0 || names[0] === by[0]?.field) && fields.every((one) => names.includes(one))
    )
  })
}

function keyOf(value: string, part: GroupKey['part'], kind: Kind): GroupColumn {
  const own = (then: string, other: string) => `iif(${isOwn(value, kind)}, ${then}, ${other})`
  const ordered = part ? own(`substr(${value}, 1, ${PART_LENGTHS[part]})`, 'NULL') : value
  if (kind === 'number') return { sql: own(asReal(value), value), ordered }
  // node:sqlite ends strings at NUL.
  return { sql: kind === 'string' ? `json_quote(${ordered})` : ordered, ordered }
}

function measureOf(op: ValueMeasure['op'], value: string, kind: Kind, filter: string): GroupColumn {
  const measured = `${op === 'sum' ? 'total' : op}(${value})${filter}`
  if (kind !== 'number') return { sql: measured, ordered: measured }
  const isWhole = `abs(${measured}) <= ${2 ** 53} AND ${measured} = round(${measured})`
  const exact = op === 'avg' ? '' : `WHEN ${isWhole} THEN ${measured} `
  const rounded = asReal(`printf('%.11e', ${measured})`)
  // What is beyond all numbers is null; libSQL's server cannot send it.
  const isNumber = `abs(${measured}) < 9e999`
  return {
    sql: `CASE WHEN ${isNumber} THEN ${asReal(measured)} END`,
    ordered: `CASE ${exact}WHEN ${isNumber} THEN ${rounded} END`,
  }
}

type Kind = Shape['kind'] | undefined

/** node:sqlite takes no integer beyond 2^53. */
function asReal(value: string): string {
  return `CAST(${value} AS REAL)`
}

function kindOf(field: string, shape: ObjectShape): Kind {
  return placeOf(shape, field)?.shape.kind
}

export function groupReader(
  { by, measures }: AggregateRead,
  shape: ObjectShape,
): (row: Readonly<Record<number, unknown>>) => Scalar[] {
  const readers = [...by, ...measures].map((one): Reader => {
    const isWhole = 'field' in one && !('part' in one && one.part)
    return (isWhole && READERS[kindOf(one.field, shape) ?? '']) || asItIs
  })
  return (row) => readers.map((read, at) => (row[at] === null ? null : read(row[at])))
}

type Reader = (value: unknown) => Scalar

const asItIs: Reader = (value) => value as Scalar

const READERS: Readonly<Record<string, Reader>> = {
  string: (value) => JSON.parse(String(value)),
  date: (value) => dateOfJson(value) as Scalar,
  boolean: (value) => value === 1 || (value === 0 ? false : (value as Scalar)),
}

/** What is asked of records that a table holds as JSON in a column: conditions, orders and positions. */

import type { Filter, Scalar, SortKey } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import type { ObjectShape, Shape } from '../../../src/ports/store/shape.ts'
import { fold } from '../../../src/ports/values/fold.ts'
import { isoText } from '../json-values.ts'
import { boundsAfter, placeAt, stretchesBeyond } from '../planner/seek.ts'
import {
  every,
  filterCompiler,
  holdsDates,
  isDateText,
  some,
  throughLists,
  type Value,
  whereAll,
} from './filter.ts'
import { orderBy } from './page.ts'

/** How a database reads JSON, as expressions of its SQL. */
export interface JsonReader {
  /** The column that has the record. */
  readonly record: string
  /** The column that has the same, with all its strings folded (`foldedText`): searches read it. */
  readonly folded: string
  /** The column that has the `_id`. */
  readonly id: string
  /** The parameter with this number, from 1, which is a string. */
  parameter(number: number): string
  /** What is at a dotted path of `json`; an empty path leads to all of it. NULL if nothing is there. */
  at(json: string, path: string): string
  /** The same as text, which compares by code point; NULL for null too. */
  textAt(json: string, path: string): string
  /** The double that is written in a text; NULL if it has none. */
  number(text: string): string
  isOfType(json: string, type: 'string' | 'number' | 'boolean'): string
  /** One element of a list meets a condition, in which it is called `element`. */
  some(list: string, element: string, condition: string): string
  contains(text: string, part: string): string
  /** A key of an `ORDER BY`: null comes first ascending and last descending. */
  inOrder(value: string, descending: boolean): string
}

/** One statement that is being written. */
export interface JsonQuery {
  /** Its parameters. */
  readonly values: string[]
  /** What follows the table in a statement about the records that match: `WHERE …`, with a leading space, or nothing. */
  where(filter: Filter): string
  /** The same with an order, for a read: `WHERE … ORDER BY …`. What it skips, and its limit, follow. */
  inOrder(read: Pick<Read, 'filter' | 'sort' | 'after'>): string
  /** The value of a field that leads to one value, as it is compared and sorted: a number, or text. */
  value(field: string): string
}

/** The record as JSON with all its strings folded. */
export function foldedText(record: object): string {
  return JSON.stringify(record, (_, value) => (typeof value === 'string' ? fold(value) : value))
}

/** Begins a statement about the records of a shape. */
export function jsonQuery(shape: ObjectShape, reader: JsonReader): JsonQuery {
  const values: string[] = []
  const bind = (text: string) => reader.parameter(values.push(text))
  const bound = (value: Value) => {
    if (typeof value === 'number') return reader.number(bind(String(value)))
    return bind(value instanceof Date ? isoText(value) : String(value))
  }
  const value = (field: string) => {
    if (field === '_id') return reader.id
    const text = reader.textAt(reader.record, field)
    return placeAt(field, shape).shape.kind === 'number' ? reader.number(text) : text
  }
  /** Dates and booleans compare as their texts do. */
  const comparable = ([json, path]: Operand, value: Value | undefined) => {
    if (json === reader.record && path === '_id') return reader.id
    const text = reader.textAt(json, path)
    return typeof value === 'number' ? reader.number(text) : text
  }
  const someElement = (json: string, path: string, element: string, condition: string) =>
    reader.some(reader.at(json, path), element, condition)
  const isMissing = (json: string, path: string) => `${reader.textAt(json, path)} IS NULL`
  const { compile: matching, where } = filterCompiler<Operand, void>({
    isMissing: (field) =>
      throughLists(reader.record, placeAt(field, shape).parts, someElement, isMissing, isMissing),
    found(field, _, test) {
      const { parts, shape: end } = placeAt(field, shape)
      return throughLists(reader.record, parts, someElement, (json, path) =>
        test([json, path, end]),
      )
    },
    ownType([json, path, end], type) {
      if (end.kind !== 'mixed') return undefined
      const isText = type === 'string' || type === 'date'
      const isOwn = reader.isOfType(reader.at(json, path), isText ? 'string' : type)
      if (!isText || !holdsDates(end)) return isOwn
      return every([isOwn, isDateText(reader.textAt(json, path), type)])
    },
    isIn: (operand, values) =>
      `${comparable(operand, values[0])} IN (${values.map(bound).join(', ')})`,
    compare: (operand, sign, value) => `${comparable(operand, value)} ${sign} ${bound(value)}`,
    contains(field, text) {
      const part = bind(fold(text))
      return throughLists(reader.folded, placeAt(field, shape).parts, someElement, (json, path) =>
        reader.contains(reader.textAt(json, path), part),
      )
    },
  })
  const behind = (sort: readonly SortKey[], after: readonly Scalar[]) => {
    const bounds = boundsAfter(sort, after, (field) => ({
      isNull: `${value(field)} IS NULL`,
      isThere: `${value(field)} IS NOT NULL`,
      compare: (sign, one) => `${value(field)} ${sign} ${bound(one)}`,
    }))
    return some(stretchesBeyond(sort, bounds).map(({ conditions }) => every(conditions)))
  }
  return {
    values,
    value,
    where,
    inOrder({ filter, sort, after }) {
      const where = whereAll([matching(filter), ...(after ? [behind(sort, after)] : [])])
      const keys = sort.map(({ field, descending }) => reader.inOrder(value(field), descending))
      return where + orderBy(keys)
    },
  }
}

type Operand = readonly [json: string, path: string, end: Shape]

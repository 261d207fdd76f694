/**
 * Aggregates: the statement, and its rows as values.
 *
 * @module
 */

import { type AggregateRead, type GroupKey, PART_LENGTHS } from '../../../../src/ports/aggregate.ts'
import type { Scalar } from '../../../../src/ports/filter.ts'
import { type ObjectShape, placeOf, type Shape } from '../../../../src/ports/shape.ts'
import { type GroupColumn, selectGroups, type ValueMeasure } from '../../sql/groups.ts'
import { fieldValue } from '../layout/records.ts'
import type { Compilation } from './filter.ts'

/** The statement of the groups of `table` that `read` asks for. */
export function compileGroups(
  read: AggregateRead,
  table: string,
  conditions: readonly string[],
  { shape, parameters }: Compilation,
): string {
  return selectGroups(read, table, conditions, {
    key: (key) => keyOf(key, shape),
    measure: (measure) => measureOf(measure, shape),
    order: (ordered, descending) => (descending ? `${ordered} DESC` : ordered),
    count: (rows) => parameters.bind(rows),
  })
}

function keyOf({ field, part }: GroupKey, shape: ObjectShape): GroupColumn {
  const value = fieldValue(field, shape)
  const ordered = part ? `substr(${value}, 1, ${PART_LENGTHS[part]})` : value
  const kind = kindOf(field, shape)
  if (kind === 'number') return { sql: asReal(value), ordered }
  // node:sqlite ends strings at NUL.
  return { sql: kind === 'string' ? `json_quote(${ordered})` : ordered, ordered }
}

function measureOf({ op, field }: ValueMeasure, shape: ObjectShape): GroupColumn {
  const value = fieldValue(field, shape)
  const measured = op === 'sum' ? `total(${value})` : `${op}(${value})`
  if (kindOf(field, shape) !== 'number') return { sql: measured, ordered: measured }
  const isWhole = `abs(${measured}) <= ${2 ** 53} AND ${measured} = round(${measured})`
  const isExact = op === 'avg' ? '' : ` OR ${isWhole}`
  const rounded = asReal(`printf('%.11e', ${measured})`)
  return {
    sql: asReal(measured),
    ordered: `CASE WHEN ${measured} IS NULL${isExact} THEN ${measured} ELSE ${rounded} END`,
  }
}

/** node:sqlite takes no integer beyond 2^53. */
function asReal(value: string): string {
  return `CAST(${value} AS REAL)`
}

function kindOf(field: string, shape: ObjectShape): Shape['kind'] | undefined {
  return placeOf(shape, field)?.shape.kind
}

/** Returns what makes the values of a row. */
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
  date: (value) => new Date(String(value)),
  boolean: (value) => value === 1,
}

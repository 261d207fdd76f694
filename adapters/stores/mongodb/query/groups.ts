/** Aggregates: the pipeline, and its documents as rows. */

import { Decimal128, type Document } from 'mongodb'
import type {
  AggregateRead,
  DatePart,
  GroupKey,
  Measure,
} from '../../../../src/ports/store/aggregate.ts'
import type { Scalar } from '../../../../src/ports/store/filter.ts'
import { type ObjectShape, placeOf } from '../../../../src/ports/store/shape.ts'
import { fromValue } from '../documents/documents.ts'
import { directionOf } from './filter.ts'

export function pipelineOf(
  { by, measures, sort, limit }: AggregateRead,
  query: Document,
  shape: ObjectShape,
): Document[] {
  const group = {
    _id: by.length === 0 ? null : named(by.map(keyOf), 'k'),
    ...named(
      measures.map((one) => measureOf(one, shape)),
      'm',
    ),
  }
  if (by.length === 0) return [{ $match: query }, { $group: group }]
  const rounded = sort.flatMap(({ column }) => {
    const measure = measures[column - by.length]
    if (!measure || !('field' in measure)) return []
    const isNumber = placeOf(shape, measure.field)?.shape.kind === 'number'
    return isNumber ? [[`r${column}`, roundedOf(measure, `$m${column - by.length}`)] as const] : []
  })
  const nameOf = (column: number): string => {
    if (column < by.length) return `_id.k${column}`
    return rounded.some(([name]) => name === `r${column}`) ? `r${column}` : `m${column - by.length}`
  }
  const order = sort.map((key) => [nameOf(key.column), directionOf(key)] as const)
  return [
    { $match: query },
    { $group: group },
    ...(rounded.length > 0 ? [{ $set: Object.fromEntries(rounded) }] : []),
    // The order of the keys counts.
    { $sort: new Map(order) },
    { $limit: limit },
  ]
}

function named(parts: readonly unknown[], prefix: string): Document {
  return Object.fromEntries(parts.map((part, at) => [`${prefix}${at}`, part]))
}

/** Null and missing are one group. */
function keyOf({ field, part }: GroupKey): unknown {
  const value = `$${field}`
  if (part === undefined) return { $ifNull: [value, null] }
  const text = { $dateToString: { date: value, format: FORMATS[part], timezone: 'UTC' } }
  return { $cond: [{ $eq: [{ $type: value }, 'date'] }, text, null] }
}

const FORMATS: Readonly<Record<DatePart, string>> = { year: '%Y', month: '%Y-%m', day: '%Y-%m-%d' }

/** What an earlier model has stored as another type does not count. */
function measureOf(measure: Measure, shape: ObjectShape): Document {
  if (!('field' in measure)) return { $sum: 1 }
  const { op, field } = measure
  const value = `$${field}`
  if (op === 'sum' || op === 'avg') return { [`$${op}`]: exact(value) }
  const isDate = placeOf(shape, field)?.shape.kind === 'date'
  const isOne = isDate ? { $eq: [{ $type: value }, 'date'] } : { $isNumber: value }
  return { [`$${op}`]: { $cond: [isOne, value, null] } }
}

/**
 * A number as a decimal of 34 digits: sums of doubles depend on the order of the documents, and lose what is small beside
 * what cancels out. A double has 15 of its digits then, so a whole number becomes a long first, and what is before the point
 * of one that has more than 13 digits there.
 */
function exact(value: string): Document {
  const whole = { $trunc: value }
  // Not NaN either, which is less than all numbers.
  const isLong = [{ $gte: [{ $abs: value }, 0] }, { $lt: [{ $abs: value }, 2 ** 63] }]
  const isCut = { $or: [{ $eq: [value, whole] }, { $gte: [{ $abs: value }, 1e13] }] }
  const parts = [{ $toDecimal: { $toLong: whole } }, { $toDecimal: { $subtract: [value, whole] } }]
  const decimal = { $cond: [{ $and: [...isLong, isCut] }, { $add: parts }, { $toDecimal: value }] }
  return { $cond: [{ $isNumber: value }, decimal, null] }
}

const SHIFT = Decimal128.fromString('1E+22')
/** Numbers from here on are none of JavaScript's. */
const BEYOND = Decimal128.fromString('1.797693134862315808E+308')
/** Above 1 by less than the digits of a double: a half is rounded up. */
const UP = Decimal128.fromString('1.0000000000000001')

/**
 * A number as measures are compared, see `roundedMeasure`. A decimal has 34 digits: of one that is added to its multiple by
 * 10^22, 12 are left. `$round` has no places for very large and very small numbers.
 */
function roundedOf({ op }: Measure, number: string): Document {
  const decimal = { $multiply: [{ $toDecimal: number }, UP] }
  const large = { $multiply: ['$$decimal', SHIFT] }
  const cut = { $subtract: [{ $add: ['$$decimal', large] }, large] }
  const rounded = { $let: { vars: { decimal }, in: cut } }
  // Whole as a double, which is what is shown. Not every number has one: such a one is not whole.
  const double = { $convert: { input: number, to: 'double', onError: 0.5 } }
  const isWhole = {
    $and: [
      { $lt: [{ $abs: number }, 1e16] },
      { $lte: [{ $abs: double }, 2 ** 53] },
      { $eq: [double, { $trunc: double }] },
    ],
  }
  const isNone = { $or: [{ $eq: [number, null] }, { $gt: [{ $abs: number }, BEYOND] }] }
  return { $cond: [isNone, null, op === 'avg' ? rounded : { $cond: [isWhole, double, rounded] }] }
}

/** The rows of what a pipeline returned; over no documents, a group of all of them is none. */
export function rowsOf(
  found: readonly Document[],
  { by, measures }: AggregateRead,
  shape: ObjectShape,
): Scalar[][] {
  if (found.length === 0 && by.length === 0) {
    return [measures.map(({ op }) => (op === 'count' || op === 'sum' ? 0 : null))]
  }
  return found.map((group) => [
    ...by.map(({ field, part }, at) => {
      const value = group._id[`k${at}`]
      return part ? value : (fromValue(value, placeOf(shape, field)?.shape) as Scalar)
    }),
    ...measures.map((_, at) => fromValue(group[`m${at}`]) as Scalar),
  ])
}

/** The columns of other programs: how each type holds the values of a model. */

import type { Shape } from '../../../../src/ports/store/shape.ts'
import { type Column, type ColumnKind, kindOf } from '../layout/columns.ts'
import { type DateType, readableDate, readableDateJson } from '../layout/dates.ts'
import type { ExistingColumn } from '../schema/catalog.ts'

/** How a column is read and written. */
export type Reading = Pick<
  Column,
  'value' | 'ordered' | 'isFine' | 'hasAnyDates' | 'boundAs' | 'storedAs' | 'fromJson'
>

/** A column of an existing type; `base` is `baseType` without the numbers in parentheses. */
type Given = ExistingColumn & { readonly sql: string; readonly base: string }

const WHOLE = /^(?:smallint|integer|bigint)$/

/** How a column of an existing type holds values of a shape, if it can. */
export function readingOf(
  sql: string,
  shape: Shape,
  existing: ExistingColumn,
): Reading | undefined {
  const given = { ...existing, sql, base: withoutNumbers(existing.baseType) }
  return READINGS[kindOf(shape.kind)](given, shape)
}

/** `timestamp(3) with time zone` without its `(3)`. */
function withoutNumbers(type: string): string {
  const [start, end] = [type.indexOf('('), type.indexOf(')')]
  return start === -1 ? type : type.slice(0, start) + type.slice(end + 1)
}

const READINGS: {
  readonly [Kind in ColumnKind]: (given: Given, shape: Shape) => Reading | undefined
} = {
  text: (given, { kind }) =>
    kind === 'id' && WHOLE.test(given.base) ? plain('bigint', given.sql) : asText(given),
  number({ sql, base }) {
    if (WHOLE.test(base)) return plain('bigint', sql)
    const isNumber = /^(?:numeric|real|double precision)$/.test(base)
    return isNumber ? plain(base, sql) : undefined
  },
  boolean: ({ sql, base }) => (base === 'boolean' ? plain(base, sql) : undefined),
  date: asDate,
  json: asJson,
}

function plain(boundAs: string, value: string, ordered = value): Reading {
  return { value, ordered, boundAs, fromJson: (json) => json }
}

function asText({ sql, base, collation, isLoose }: Given): Reading {
  if (base === 'uuid') return plain('uuid', sql)
  const isText = base === 'text' || base === 'character varying'
  const value = isText ? sql : `${sql}::text`
  const isByCode = isText && collation === 'C'
  const ordered = isByCode ? value : `${value} COLLATE "C"`
  return { ...plain('text', isLoose ? ordered : value, ordered), storedAs: UNLIMITED.get(base) }
}

/** What refuses a value that is too long for a column of the type. */
const UNLIMITED: ReadonlyMap<string, string> = new Map([
  ['character varying', 'text'],
  ['character', 'text'],
  ['bit', 'bit varying'],
  ['bit varying', 'bit varying'],
])

function asDate({ sql, base }: Given): Reading | undefined {
  const type = dateTypeOf(base)
  if (!type) return undefined
  const boundAs = type === 'date' ? 'timestamp' : type
  // Sorted as it is, so that an index on the column serves.
  return { ...plain(boundAs, readableDate(sql, type), sql), isFine: true }
}

function dateTypeOf(base: string): DateType | undefined {
  if (base === 'timestamp with time zone') return 'timestamptz'
  if (base === 'timestamp without time zone') return 'timestamp'
  return base === 'date' ? base : undefined
}

function asJson({ sql, type, base }: Given, shape: Shape): Reading | undefined {
  if (base === 'jsonb') return { ...plain('jsonb', sql), hasAnyDates: true }
  if (base === 'json') {
    const fromJson = (json: string) => `(${json})::json`
    return { ...plain('jsonb', `${sql}::jsonb`), fromJson, hasAnyDates: true }
  }
  if (!base.endsWith('[]') || shape.kind !== 'list') return undefined
  const fromJson = (json: string) =>
    `(SELECT list FROM jsonb_to_record(jsonb_build_object('list', ${json})) AS new(list ${type}))`
  return { ...plain('jsonb', listJson(sql, base, shape.element)), fromJson }
}

const FRACTIONS: ReadonlySet<string> = new Set(['numeric', 'real', 'double precision'])

/** An array with NULL for what `to_jsonb` would make a string of, because JSON has no such numbers. */
function withoutNaN(sql: string): string {
  const names = ['NaN', 'Infinity', '-Infinity']
  return names.reduce((array, name) => `array_replace(${array}, '${name}', NULL)`, sql)
}

/** An array as the JSON of a list. Dates are as JSON has them, and ids are strings. */
function listJson(sql: string, base: string, element: Shape): string {
  const type = base.slice(0, -'[]'.length)
  const isText = element.kind === 'id' || element.kind === 'string'
  if (isText && (WHOLE.test(type) || type === 'numeric')) return `to_jsonb(${sql}::text[])`
  const date = element.kind === 'date' && dateTypeOf(type)
  if (!date) return `to_jsonb(${isText || !FRACTIONS.has(type) ? sql : withoutNaN(sql)})`
  const json = readableDateJson('one', date)
  return `CASE WHEN ${sql} IS NOT NULL THEN to_jsonb(ARRAY(SELECT ${json} FROM unnest(${sql}) WITH ORDINALITY AS each(one, at) ORDER BY at)) END`
}

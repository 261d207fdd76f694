/**
 * Records, which are JSON in the column `doc`, and their fields as SQL.
 *
 * @module
 */

import { type ObjectShape, type Place, placeOf } from '../../../../src/ports/shape.ts'
import type { Fields, Projection } from '../../../../src/ports/store.ts'
import { restoreOf } from '../../json-values.ts'
import { jsonPath, literal, type Parameters } from './sql.ts'

/** Parses records of a shape from their JSON. */
export function readerOf(shape: ObjectShape): (text: string) => Fields {
  const restore = restoreOf(shape)
  return restore
    ? (text) => restore(JSON.parse(text)) as Fields
    : (text) => JSON.parse(text) as Fields
}

/** A value in the database: its SQL, and that of its JSON type. */
export interface Operand {
  readonly value: string
  readonly type: string
}

/** The field at the path `field` of a shape. */
export interface Field extends Place {
  /** Its SQL, as indexes hold it: filters and sorts must use the same for an index to serve them. */
  readonly operand: Operand
}

const known = new WeakMap<ObjectShape, Map<string, Field>>()

/** The field at a path. Throws a `TypeError` for one that the shape does not have. */
export function fieldAt(path: string, shape: ObjectShape): Field {
  const fields = known.get(shape) ?? new Map<string, Field>()
  const field = fields.get(path) ?? makeField(path, shape)
  known.set(shape, fields.set(path, field))
  return field
}

function makeField(path: string, shape: ObjectShape): Field {
  const place = placeOf(shape, path)
  if (!place) throw new TypeError(`the field '${path}' is not in the collection's shape`)
  return { ...place, operand: operandIn('doc', place.parts[0] ?? '') }
}

/** A field's value as SQL. Throws a `TypeError` for one that leads through a list. */
export function fieldValue(path: string, shape: ObjectShape): string {
  return outsideLists(path, shape).operand.value
}

/** A field's value as JSON; NULL if it is missing. */
export function fieldJson(path: string, shape: ObjectShape): string {
  const [first = ''] = outsideLists(path, shape).parts
  return first === '_id' ? 'json_quote(_id)' : `doc -> ${jsonPath(first)}`
}

/**
 * The JSON of the part of a record that `select` leaves, as SQL; undefined if that leads into a field. All that the record
 * holds must be declared.
 */
export function partOf(shape: ObjectShape, select: Projection): string | undefined {
  const isIncluded = 'include' in select
  const names = new Set(isIncluded ? select.include : select.exclude)
  names.delete('_id')
  const own = [...shape.fields.keys()].filter((name) => names.has(name))
  if (own.length < names.size) return undefined
  if (isIncluded) {
    const members = own.map((name) => {
      const key = literal(`,${JSON.stringify(name)}:`)
      return ` || ifnull(${key} || (doc -> ${jsonPath(name)}), '')`
    })
    return `'{"_id":' || json_quote(_id)${members.join('')} || '}'`
  }
  if (own.length === 0) return 'doc'
  return own.length < MAX_ARGUMENTS
    ? `json_remove(doc, ${own.map(jsonPath).join(', ')})`
    : undefined
}

/** D1 allows so many in the call of a function. */
const MAX_ARGUMENTS = 32

function outsideLists(path: string, shape: ObjectShape): Field {
  const field = fieldAt(path, shape)
  if (field.parts.length > 1) throw new TypeError(`the field '${path}' leads through a list`)
  return field
}

/** The value at `path` in the record, or in an element from `json_each` with the alias `root`. */
export function operandIn(root: string, path: string): Operand {
  if (root === 'doc') {
    if (path === '_id') return { value: '_id', type: "'text'" }
    const at = jsonPath(path)
    return { value: `json_extract(doc, ${at})`, type: `json_type(doc, ${at})` }
  }
  if (path === '') return { value: `${root}.value`, type: `${root}.type` }
  const inside = (name: string) =>
    `CASE ${root}.type WHEN 'object' THEN ${name}(${root}.value, ${jsonPath(path)}) END`
  return { value: inside('json_extract'), type: inside('json_type') }
}

/** `value` as the other side of a comparison with a field's value. */
export function boundValue(
  value: string | number | boolean | Date,
  parameters: Parameters,
): string {
  if (typeof value === 'string') return parameters.bind(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value instanceof Date) return parameters.bind(dateString(value))
  if (Number.isSafeInteger(value)) return parameters.bind(value)
  // SQLite parses some long numbers slightly wrong: then both sides must come from the same JSON.
  return `(${parameters.bind(JSON.stringify(value))} ->> '$')`
}

/** Fixed width, so that strings compare as dates do. No stored date is beyond the year 9999. */
export function dateString(date: Date): string {
  const text = date.toISOString()
  return text.startsWith('+') ? ':' : text
}

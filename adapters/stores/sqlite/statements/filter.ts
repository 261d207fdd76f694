/**
 * The neutral filter as SQL over a table of JSON.
 *
 * @module
 */

import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import { type ObjectShape, type Place, placeOf, type Shape } from '../../../../src/ports/shape.ts'

import { folded, type Shadow } from '../layout/shadows.ts'
import { every, exists, jsonPath, type Parameters, some } from '../sql.ts'

/** What a filter is compiled with. */
export interface Compilation {
  readonly shape: ObjectShape
  readonly shadows: ReadonlyMap<string, Shadow>
  readonly parameters: Parameters
  /** Finds the rows that may contain a string, if there is an index. */
  readonly candidates?: Candidates | undefined
  /** Finds those among the records that lack a shadow, if there are any. */
  readonly lacking?: Lacking | undefined
}

/** The ids of the rows that lack a shadow, and would contain a folded string there. */
export type Lacking = (shadow: Shadow, text: string) => readonly unknown[]

/** The SQL function that matches a pattern; only if the store has one. */
export const MATCHES = 'fieldgate_matches'

/** A value in the database: its SQL, and that of its JSON type. */
interface Operand {
  readonly value: string
  readonly type: string
  readonly kind: Shape['kind']
}

/** A condition on one value. May be NULL, which matches nothing. */
type Test = (operand: Operand) => string

/** `filter` as a condition. */
export function compileFilter(filter: Filter, compilation: Compilation): string {
  switch (filter.op) {
    case 'and':
      return every(filter.filters.map((one) => compileFilter(one, compilation)))
    case 'or':
      return some(filter.filters.map((one) => compileFilter(one, compilation)))
    case 'eq':
      return among(filter.field, [filter.value], compilation)
    case 'ne':
      return not(among(filter.field, [filter.value], compilation))
    case 'in':
      return among(filter.field, filter.values, compilation)
    case 'nin':
      return not(among(filter.field, filter.values, compilation))
    case 'contains':
      return contains(filter.field, filter.text, compilation)
    case 'matches':
      return matches(filter.field, filter.pattern, compilation)
    default:
      return compare(SIGNS[filter.op], filter.field, filter.value, compilation)
  }
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** The place of a field. Throws a `TypeError` for a field that the shape does not have. */
export const placeAt: (field: string, shape: ObjectShape) => Place = remembered((field, shape) => {
  const place = placeOf(shape, field)
  if (!place) throw new TypeError(`the field '${field}' is not in the collection's shape`)
  return place
})

/** A field's value, as indexes hold it: filters and sorts must use the same SQL for an index to serve them. */
export const fieldValue: (field: string, shape: ObjectShape) => string = remembered(
  (field, shape) => valueIn('doc', pathOutsideLists(field, shape)),
)

/** A field's value as JSON; NULL if it is missing. */
export function fieldJson(field: string, shape: ObjectShape): string {
  const path = pathOutsideLists(field, shape)
  return path === '_id' ? 'json_quote(_id)' : `doc -> ${jsonPath(path)}`
}

function pathOutsideLists(field: string, shape: ObjectShape): string {
  const [path = '', ...lists] = placeAt(field, shape).parts
  if (lists.length > 0) throw new TypeError(`the field '${field}' leads through a list`)
  return path
}

/** `make` with what it made before: every read asks for the same few fields again. */
function remembered<T>(
  make: (field: string, shape: ObjectShape) => T,
): (field: string, shape: ObjectShape) => T {
  const made = new WeakMap<ObjectShape, Map<string, T>>()
  return (field, shape) => {
    const fields = made.get(shape) ?? new Map<string, T>()
    const known = fields.get(field)
    if (known !== undefined) return known
    const value = make(field, shape)
    made.set(shape, fields.set(field, value))
    return value
  }
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
function dateString(date: Date): string {
  const text = date.toISOString()
  return text.startsWith('+') ? ':' : text
}

/** The condition that a field's value is one of `values`. */
function among(field: string, values: readonly Scalar[], compilation: Compilation): string {
  const { parameters } = compilation
  const others = values.filter((value) => value !== null && isStorable(value))
  const conditions: string[] = []
  if (values.includes(null)) conditions.push(isMissing(field, compilation))
  if (others.length > 0) {
    conditions.push(found(field, compilation, (operand) => oneOf(operand, others, parameters)))
  }
  return some(conditions)
}

function oneOf(operand: Operand, values: readonly Scalar[], parameters: Parameters): string {
  if (operand.kind !== 'mixed') return isIn(operand, values, parameters)
  const kinds = [...new Set(values.map((value) => typeof value))]
  return some(
    kinds.map((kind) => {
      const alike = values.filter((value) => typeof value === kind)
      return every([hasTypeOf(operand, alike[0] ?? null), isIn(operand, alike, parameters)])
    }),
  )
}

/** Long lists are sent as one JSON string: D1 allows a hundred parameters. */
function isIn({ value }: Operand, values: readonly Scalar[], parameters: Parameters): string {
  const [first, ...others] = values
  if (first === undefined || first === null) return 'FALSE'
  if (others.length === 0) return `${value} = ${boundValue(first, parameters)}`
  const list = JSON.stringify(values.map(jsonValue))
  return `${value} IN (SELECT value FROM json_each(${parameters.bind(list)}))`
}

function jsonValue(value: Scalar): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof Date ? dateString(value) : value
}

function compare(
  sign: '>' | '>=' | '<' | '<=',
  field: string,
  value: Scalar,
  compilation: Compilation,
): string {
  if (value === null || !isStorable(value)) return 'FALSE'
  const bound = boundValue(value, compilation.parameters)
  return found(field, compilation, (operand) => {
    const condition = `${operand.value} ${sign} ${bound}`
    return operand.kind === 'mixed' ? every([hasTypeOf(operand, value), condition]) : condition
  })
}

/** A string to find in a shadow. */
export interface Search {
  readonly shadow: Shadow
  readonly text: string
}

/** What `filter` searches for. */
export function searchesIn(filter: Filter, shadows: Compilation['shadows']): readonly Search[] {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.flatMap((one) => searchesIn(one, shadows))
    case 'contains':
      return filter.text.isWellFormed() ? [searchFor(filter.field, filter.text, shadows)] : []
    default:
      return []
  }
}

/**
 * The shadow contains the folded string. A list's shadow is searched as a whole, as JSON: it may match across elements.
 */
function searchFor(field: string, text: string, shadows: Compilation['shadows']): Search {
  const shadow = shadows.get(field)
  if (!shadow) throw new TypeError(`the field '${field}' is not searchable`)
  const term = folded(text)
  return { shadow, text: isList(shadow) ? JSON.stringify(term).slice(1, -1) : term }
}

function isList({ parts }: Shadow): boolean {
  return parts.length > 1
}

function contains(field: string, text: string, compilation: Compilation): string {
  const { shadows, parameters, candidates, lacking } = compilation
  const { shadow, text: whole } = searchFor(field, text, shadows)
  if (!text.isWellFormed()) return 'FALSE'
  const candidate = candidates?.(shadow, whole, parameters)
  const conditions = [`instr(${shadow.column}, ${parameters.bind(whole)}) > 0`]
  if (candidate !== undefined) conditions.unshift(candidate)
  if (isList(shadow)) {
    const within = parameters.bind(folded(text))
    conditions.push(
      exists(`json_tree(${shadow.column}) AS leaf`, `instr(leaf.atom, ${within}) > 0`),
    )
  }
  const others = lacking?.(shadow, folded(text)) ?? []
  if (others.length === 0) return every(conditions)
  const rowids = parameters.bind(JSON.stringify(others))
  return some([every(conditions), `rowid IN (SELECT value FROM json_each(${rowids}))`])
}

function matches(field: string, pattern: string, compilation: Compilation): string {
  const bound = compilation.parameters.pattern(pattern)
  return found(field, compilation, ({ value }) => `${MATCHES}(${bound}, ${value})`)
}

/** `test` holds for the value at `field`, or for one element if the path leads through lists. */
function found(field: string, { shape }: Compilation, test: Test): string {
  const { parts, shape: end } = placeAt(field, shape)
  return inList('doc', parts, end.kind, test, () => 'FALSE')
}

/** The value at `field`, or one of the elements, is null or missing. */
function isMissing(field: string, { shape }: Compilation): string {
  const { parts, shape: end } = placeAt(field, shape)
  const test: Test = ({ value }) => `${value} IS NULL`
  return inList('doc', parts, end.kind, test, (list) => `${list} IS NULL`)
}

function inList(
  root: string,
  [path = '', ...rest]: readonly string[],
  kind: Shape['kind'],
  test: Test,
  absent: (type: string) => string,
): string {
  if (rest.length === 0) return test({ value: valueIn(root, path), type: typeIn(root, path), kind })
  const element = `element${rest.length}`
  const within = inList(element, rest, kind, test, absent)
  const json =
    root === 'doc' ? 'doc' : `CASE ${root}.type WHEN 'object' THEN ${root}.value ELSE '{}' END`
  const isFound = exists(`json_each(${json}, ${jsonPath(path)}) AS ${element}`, within)
  return some([absent(typeIn(root, path)), isFound].filter((condition) => condition !== 'FALSE'))
}

/** The value at `path` in the record, or in an element from `json_each`. */
function valueIn(root: string, path: string): string {
  if (root === 'doc') return path === '_id' ? '_id' : `json_extract(doc, ${jsonPath(path)})`
  if (path === '') return `${root}.value`
  return `CASE ${root}.type WHEN 'object' THEN json_extract(${root}.value, ${jsonPath(path)}) END`
}

function typeIn(root: string, path: string): string {
  if (root === 'doc') return path === '_id' ? "'text'" : `json_type(doc, ${jsonPath(path)})`
  if (path === '') return `${root}.type`
  return `CASE ${root}.type WHEN 'object' THEN json_type(${root}.value, ${jsonPath(path)}) END`
}

function hasTypeOf({ type }: Operand, value: Scalar): string {
  switch (typeof value) {
    case 'number':
      return `${type} IN ('integer', 'real')`
    case 'boolean':
      return `${type} IN ('true', 'false')`
    default:
      return `${type} = 'text'`
  }
}

function not(condition: string): string {
  return `(${condition}) IS NOT TRUE`
}

/** SQLite's strings are UTF-8, which has no lone surrogates: such a string would be bound as another one. */
export function isStorable(value: Scalar): boolean {
  return typeof value !== 'string' || value.isWellFormed()
}

/** The condition that a row may hold `text` in a shadow; undefined if all rows have to be checked. */
export type Candidates = (
  shadow: Shadow,
  text: string,
  parameters: Parameters,
) => string | undefined

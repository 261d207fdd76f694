/** Where values are: SQL for the places that a field's path leads to, and for the generated columns that are searched. */

import type { SortKey } from '../../../../src/ports/store/filter.ts'
import type { Shape } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { fold } from '../../../../src/ports/values/fold.ts'
import { placeAt } from '../../planner/seek.ts'
import { holdsDates, throughLists } from '../../sql/filter.ts'
import { type Column, FOLD, kindOf, SEARCH_PREFIX, type Table, TYPES } from './columns.ts'
import { identifier, literal, type Parameters, shortName } from './sql.ts'

/** A value; `ordered` and `isFine` are as in `Column`. */
export interface Operand extends Pick<Column, 'ordered' | 'isFine' | 'isNotNull'> {
  readonly kind: Shape['kind']
  /** Its SQL; NULL where the value is null or missing. For a mixed value, `jsonb`. */
  readonly sql: string
  /** The SQL type that it is compared as. */
  readonly type: string
  /** Whether it is a column, which needs no parentheses in an index. */
  readonly isColumn: boolean
  /** Of a mixed value: whether it may be a date. */
  readonly hasDates?: boolean
}

export interface Collected {
  readonly schema: CollectionSchema
  readonly table: Table
}

export interface Compilation extends Collected {
  readonly parameters: Parameters
}

/** `test` holds for the value at `field`, or for one element if the path leads through lists. NULL matches nothing. */
export function found(
  field: string,
  collected: Collected,
  test: (operand: Operand) => string,
): string {
  const { shape, column, keys, lists } = located(field, collected)
  const { table } = collected
  const hasDates = holdsDates(shape)
  if (lists.length === 0) return test({ ...operandAt(column, keys, shape, table), hasDates })
  return throughLists(column.value, [keys.join('.'), ...lists], someElement, (root, path) =>
    test({ ...jsonOperand(jsonAt(root, path), shape.kind, table), hasDates }),
  )
}

/** The SQL of a list of single values at a path; undefined for any other path, and in another program's table. */
export function listAt(field: string, collected: Collected): string | undefined {
  const { shape, first, column, keys, lists } = located(field, collected)
  const isList = first === field && lists.length === 1 && lists[0] === ''
  const isSingle = !['object', 'map', 'list', 'mixed'].includes(shape.kind)
  if (!isList || !isSingle || collected.table.isAdopted) return undefined
  return column.kind === 'json' ? json(column.value, keys) : undefined
}

/** The value at a path that leads through no list, as indexes hold it: filters and sorts must use the same SQL. */
export function valueAt(field: string, collected: Collected): Operand {
  const { shape, column, keys, lists } = located(field, collected)
  if (lists.length > 0) throw new TypeError(`the field '${field}' leads through a list`)
  return operandAt(column, keys, shape, collected.table)
}

/** The column that a path leads to, the keys inside of it up to the first list, and what comes after each list. */
function located(field: string, { schema, table }: Collected) {
  const { shape, parts } = placeAt(field, schema.shape)
  const [first = '', ...lists] = parts
  const [name = '', ...keys] = first.split('.')
  // A table has a column for each field of the shape.
  const column = table.byField.get(name) as Column
  return { shape, first, column, keys, lists }
}

function operandAt(
  column: Column,
  keys: readonly string[],
  { kind }: Shape,
  table: Table,
): Operand {
  const { value: sql, ordered, isFine, boundAs: type, isNotNull } = column
  if (keys.length > 0) return jsonOperand(json(sql, keys), kind, table)
  const isColumn = column.kind !== 'json' && ordered === column.sql
  return { kind: column.shape.kind, sql, ordered, isFine, type, isColumn, isNotNull }
}

/** Anything but a list is its own only element. */
function someElement(root: string, path: string, element: string, condition: string): string {
  const list = jsonAt(root, path)
  const elements = `CASE jsonb_typeof(${list}) WHEN 'array' THEN ${list} ELSE jsonb_build_array(${list}) END`
  return `EXISTS (SELECT FROM jsonb_array_elements(${elements}) AS elements(${element}) WHERE ${condition})`
}

function jsonAt(root: string, path: string): string {
  return json(root, path === '' ? [] : path.split('.'))
}

/** The JSON at `keys` in the JSON `root`. */
export function json(root: string, keys: readonly string[]): string {
  return keys.length === 0 ? root : `(${root}${keys.map((key) => ` -> ${literal(key)}`).join('')})`
}

/** A value in JSON as one of a kind. */
export function jsonOperand(value: string, kind: Shape['kind'], { isAdopted }: Table): Operand {
  const isAny = kind === 'number' && isAdopted
  const sql = isAny ? anyNumberIn(value) : scalarIn(value, kind)
  const type = kind === 'date' ? 'text' : TYPES[kindOf(kind)]
  return { kind, sql, ordered: sql, type, isColumn: false }
}

/** The number that another program has stored as JSON; NULL if it is none of JavaScript's. */
function anyNumberIn(value: string): string {
  const size = `abs((${value})::numeric)`
  const isKnown = `${size} = 0 OR ${size} BETWEEN ${Number.MIN_VALUE} AND ${Number.MAX_VALUE}`
  return `CASE jsonb_typeof(${value}) WHEN 'number' THEN CASE WHEN ${isKnown} THEN (${value})::double precision END END`
}

/** The scalar that JSON holds, as SQL of its type; NULL if it has another. Dates are strings in JSON. */
export function scalarIn(value: string, kind: Shape['kind']): string {
  if (kind === 'number' || kind === 'boolean') {
    return `CASE jsonb_typeof(${value}) WHEN '${kind}' THEN (${value})::${TYPES[kind]} END`
  }
  if (kindOf(kind) === 'json') return value
  return `(CASE jsonb_typeof(${value}) WHEN 'string' THEN ${value} #>> '{}' END COLLATE "C")`
}

/** One key of an order in a `SELECT`: a bare name would be that of a column of the result, whose dates are cut. */
export function sorted(key: SortKey, collected: Collected): string {
  const { isAdopted, sql } = collected.table
  return orderOf(key, collected, isAdopted ? `${sql}.` : '')
}

/** One key of an order, as indexes spell it; `of` comes before a column. PostgreSQL has NULL at the other end than the port. */
export function orderOf({ field, descending }: SortKey, collected: Collected, of = ''): string {
  const { ordered, isColumn, isNotNull } = valueAt(field, collected)
  const value = isColumn ? of + ordered : `(${ordered})`
  if (field === '_id' || isNotNull) return descending ? `${value} DESC` : value
  return `${value} ${descending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`
}

/** The search column of a path, and its value as an `expression`. For a list it is the whole list as JSON, folded. */
export function searchColumn(
  path: string,
  collected: Collected,
): Readonly<Record<'name' | 'sql' | 'expression', string>> {
  const { schema, table } = collected
  const { shape, column, keys, lists } = located(path, collected)
  if (shape.kind !== 'string') throw new TypeError(`'${path}' of '${schema.name}' is not a string`)
  const name = shortName(SEARCH_PREFIX + searchLabel(path, schema))
  const whole = json(column.value, keys)
  const text = keys.length === 0 ? whole : `(${whole} #>> '{}')`
  const value = lists.length > 0 ? `(${whole})::text` : text
  const expression = `${table.fold}(${value})`
  return { name, sql: table.isAdopted ? expression : identifier(name), expression }
}

/**
 * What names a search: its path, with a second dot after the first list. The values of another version of the model, where
 * there is no list or another one, are in a column of their own.
 */
export function searchLabel(path: string, { shape }: CollectionSchema): string {
  const [first = '', ...rest] = placeAt(path, shape).parts
  return rest.length === 0 ? path : `${first}.${path.slice(first.length) || '.'}`
}

/** No letter beyond has a case. */
const CASED_END = 0x1f000

/** The characters that most strings consist of, in lower case: `translate` looks through its list from the start. */
const COMMON =
  'etaoinsrhldcumfpgwybvkxjqz -0123456789.,/:_\'"()áàâãäåçéèêëíìîïñóòôõöøúùûüýšžčćęąłżαεηιοστνρκλμπυςάέήίόύώаеиотнсрвлкмдпуяьыгзбчйхжшюцщэфъё'

/** Creates the function: PostgreSQL's own `lower` depends on the locale, and folds some letters unlike the other stores. */
export function createFold(space: string): string {
  const common = Array.from(COMMON).filter((char) => fold(char) === char)
  const [from, to] = [[...common], [...common]]
  for (let code = 0x80; code < CASED_END; code += 1) {
    const char = String.fromCodePoint(code)
    if (!char.isWellFormed() || fold(char) === char) continue
    from.push(char)
    to.push(fold(char))
  }
  const quoted = (chars: readonly string[]) => `'${chars.join('').replaceAll("'", "''")}'`
  const lower = `lower(value COLLATE "C")`
  return `CREATE FUNCTION ${identifier(space)}.${FOLD}(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fold$
  SELECT replace(replace(
    CASE WHEN octet_length(value) = length(value) THEN ${lower} ELSE translate(${lower}, ${quoted(from)}, ${quoted(to)}) END,
    E'\\x01\\x01', 'N'), E'\\x01\\x02', 'M')
$fold$`
}

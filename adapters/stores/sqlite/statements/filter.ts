/** The neutral filter as SQL over a table of JSON. */

import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type { ObjectShape } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { isoText } from '../../json-values.ts'
import { every, filterCompiler, some, type Value, whereAll } from '../../sql/filter.ts'
import {
  boundValue,
  type Candidates,
  type FoundRows,
  fieldAt,
  folded,
  isList,
  type Operand,
  operandIn,
  type Shadow,
  searchFor,
} from '../layout/records.ts'
import type { Runner } from '../layout/runner.ts'
import type { SchemaStamps } from '../layout/schema-stamps.ts'
import { exists, jsonPath, MATCHES, type Parameters } from '../layout/sql.ts'
import type { Filler } from '../search/filling.ts'

/** What a statement is compiled with. */
export interface Compilation {
  readonly shape: ObjectShape
  readonly shadows: ReadonlyMap<string, Shadow>
  readonly parameters: Parameters
  /** Finds the rows that may contain a string, if there is an index. */
  readonly candidates?: Candidates | undefined
  /** What was found of them before. */
  readonly found?: FoundRows | undefined
}

/** A collection as statements see it. */
export interface Target {
  readonly schema: CollectionSchema
  /** The table, as an identifier. */
  readonly table: string
  readonly stamps: SchemaStamps | undefined
  readonly runner: Runner
  readonly filler: Filler
  parse(text: string): Fields
  /** The shadows of the searchable paths, by path. */
  shadows(): ReadonlyMap<string, Shadow>
  compilation(): Compilation
}

/** `filter` as a condition. */
export const compileFilter: (filter: Filter, compilation: Compilation) => string = filterCompiler({
  isMissing: (field, { shape }) =>
    found(
      field,
      shape,
      ({ value }) => `${value} IS NULL`,
      (list) => `${list} IS NULL`,
    ),
  isAmong: (field, values, { shape, parameters }) =>
    found(field, shape, (operand, isMixed) =>
      isMixed ? amongOwnType(operand, values, parameters) : isIn(operand, values, parameters),
    ),
  compare(field, sign, value, { shape, parameters }) {
    const bound = boundValue(value, parameters)
    return found(field, shape, (operand, isMixed) => {
      const condition = `${operand.value} ${sign} ${bound}`
      return isMixed ? every([hasTypeOf(operand, value), condition]) : condition
    })
  },
  contains,
  matches(field, pattern, { shape, parameters }) {
    const bound = parameters.pattern(pattern)
    return found(field, shape, ({ value }) => `${MATCHES}(${bound}, ${value})`)
  },
})

/** The `WHERE` clause of the records that match. */
export function where(filter: Filter, compilation: Compilation): string {
  return whereAll([compileFilter(filter, compilation)])
}

/** A condition on one value. May be NULL, which matches nothing. */
type Test = (operand: Operand, isMixed: boolean) => string

/** `test` holds for the value at `field`, or for one element if the path leads through lists, or `absent` for a list. */
function found(
  field: string,
  shape: ObjectShape,
  test: Test,
  absent?: (type: string) => string,
): string {
  const { parts, shape: end, operand } = fieldAt(field, shape)
  const isMixed = end.kind === 'mixed'
  if (parts.length === 1) return test(operand, isMixed)
  return inLists('doc', parts, (one) => test(one, isMixed), absent)
}

function inLists(
  root: string,
  [path = '', ...rest]: readonly string[],
  test: (operand: Operand) => string,
  absent?: (type: string) => string,
): string {
  const operand = operandIn(root, path)
  if (rest.length === 0) return test(operand)
  const element = `element${rest.length}`
  const within = inLists(element, rest, test, absent)
  const json =
    root === 'doc' ? 'doc' : `CASE ${root}.type WHEN 'object' THEN ${root}.value ELSE '{}' END`
  const isFound = exists(`json_each(${json}, ${jsonPath(path)}) AS ${element}`, within)
  return absent ? some([absent(operand.type), isFound]) : isFound
}

/** A mixed value is compared with values of its own type alone. */
function amongOwnType(operand: Operand, values: readonly Value[], parameters: Parameters): string {
  const alike = Map.groupBy(values, (value) => typeof value)
  return some(
    [...alike.values()].map((some) =>
      every([hasTypeOf(operand, some[0] ?? ''), isIn(operand, some, parameters)]),
    ),
  )
}

/** Long lists are sent as one JSON string: D1 allows a hundred parameters. */
function isIn({ value }: Operand, values: readonly Value[], parameters: Parameters): string {
  const [first = '', ...others] = values
  if (others.length === 0) return `${value} = ${boundValue(first, parameters)}`
  const list = JSON.stringify(values.map(jsonValue))
  return `${value} IN (SELECT value FROM json_each(${parameters.bind(list)}))`
}

function jsonValue(value: Value): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof Date ? isoText(value) : value
}

function hasTypeOf({ type }: Operand, value: Value): string {
  switch (typeof value) {
    case 'number':
      return `${type} IN ('integer', 'real')`
    case 'boolean':
      return `${type} IN ('true', 'false')`
    default:
      return `${type} = 'text'`
  }
}

function contains(field: string, text: string, compilation: Compilation): string {
  const { shadows, parameters, candidates, found } = compilation
  const { shadow, text: whole, key } = searchFor(field, text, shadows)
  if (!text.isWellFormed()) return 'FALSE'
  const rowids = found?.get(key)?.rowids
  const candidate =
    rowids === undefined
      ? candidates?.(shadow, whole, parameters)
      : `rowid IN (SELECT value FROM json_each(${parameters.bind(rowids)}))`
  const conditions = [`instr(${shadow.column}, ${parameters.bind(whole)}) > 0`]
  if (candidate !== undefined) conditions.unshift(candidate)
  if (isList(shadow)) {
    const within = parameters.bind(folded(text))
    conditions.push(
      exists(`json_tree(${shadow.column}) AS leaf`, `instr(leaf.atom, ${within}) > 0`),
    )
  }
  return every(conditions)
}

/** The neutral filter as SQL over a table of JSON. */

import type { Fields } from '../../../../src/ports/store/records.ts'
import type { ObjectShape, Shape } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { isoText } from '../../json-values.ts'
import {
  every,
  type FilterSql,
  filterCompiler,
  holdsDates,
  isDateText,
  throughLists,
  type Value,
} from '../../sql/filter.ts'
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
  shadows(): ReadonlyMap<string, Shadow>
  compilation(): Compilation
}

const conditions = filterCompiler<Typed, Compilation>({
  isMissing: (field, compilation) => found(field, compilation, isNull, isAbsent),
  found,
  ownType({ type, value, end }, own) {
    if (end.kind !== 'mixed') return undefined
    const isOwn = `${type} ${TYPES[own]}`
    const isText = own === 'string' || own === 'date'
    return isText && holdsDates(end) ? every([isOwn, isDateText(value, own)]) : isOwn
  },
  isIn,
  compare: (operand, sign, value, { parameters }) =>
    `${operand.value} ${sign} ${boundValue(value, parameters)}`,
  contains,
  // Node gives functions a text up to its first NUL, but all of a blob.
  matches: ({ value }, pattern, { parameters }) =>
    `${MATCHES}(${parameters.pattern(pattern)}, iif(instr(${value}, char(0)), CAST(${value} AS BLOB), ${value}))`,
})

export const compileFilter: FilterSql<Compilation> = conditions.compile
export const where: FilterSql<Compilation> = conditions.where

const isNull: Test = ({ value }) => `${value} IS NULL`
const isAbsent: Test = ({ type }) => `${type} IS NULL`

const TYPES = {
  string: "= 'text'",
  date: "= 'text'",
  number: "IN ('integer', 'real')",
  boolean: "IN ('true', 'false')",
} as const

type Typed = Operand & { readonly end: Shape }
type Test = (operand: Typed) => string

function found(field: string, { shape }: Compilation, test: Test, absent?: Test): string {
  const { parts, shape: end } = fieldAt(field, shape)
  const at = (one: Test) => (root: string, path: string) => one({ ...operandIn(root, path), end })
  return throughLists('doc', parts, someElement, at(test), absent && at(absent))
}

function someElement(root: string, path: string, element: string, condition: string): string {
  const json =
    root === 'doc' ? root : `CASE ${root}.type WHEN 'object' THEN ${root}.value ELSE '{}' END`
  return exists(`json_each(${json}, ${jsonPath(path)}) AS ${element}`, condition)
}

/** Long lists are sent as one JSON string: D1 allows a hundred parameters. */
function isIn({ value }: Operand, values: readonly Value[], { parameters }: Compilation): string {
  const [first = '', ...others] = values
  if (others.length === 0) return `${value} = ${boundValue(first, parameters)}`
  const plain = values.map((one) => (typeof one === 'boolean' ? Number(one) : one))
  const list = JSON.stringify(plain.map((one) => (one instanceof Date ? isoText(one) : one)))
  return `${value} IN (SELECT value FROM json_each(${parameters.bind(list)}))`
}

function contains(field: string, text: string, compilation: Compilation): string {
  const { shadows, parameters, candidates, found } = compilation
  const { shadow, text: whole, key } = searchFor(field, text, shadows)
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

/** A change of one record as SQL expressions over its stored JSON, so that it is one atomic statement. */

import type { Fields } from '../../../../src/ports/store/records.ts'
import type { Change } from '../../../../src/ports/store/store.ts'
import { isWithin } from '../../../../src/ports/values/paths.ts'
import { type Operation, operationsOf } from '../../planner/change.ts'
import { type Assignment, changedJson, type JsonDialect, type Of } from '../../sql/change.ts'
import { every } from '../../sql/filter.ts'
import { asText, keptShadow, type Shadow, shadowAt } from '../layout/records.ts'
import { jsonPath, type Parameters } from '../layout/sql.ts'

/** The assignments of an `UPDATE`: the record's JSON, and the shadows that change with it. */
export function compileChange(
  change: Change,
  shadows: Iterable<Shadow>,
  parameters: Parameters,
): string {
  const operations = operationsOf(change)
  const assignments = [`doc = ${changedJson('doc', operations, DIALECT, parameters)}`]
  for (const shadow of shadows) {
    const text = changedShadow(operations, shadow, parameters)
    if (text !== undefined) assignments.push(`${shadow.column} = ${keptShadow(shadow, text)}`)
  }
  return assignments.join(', ')
}

/** The condition that top-level fields hold exactly these values; `undefined` means that the field is absent. */
export function compileExpected(expected: Readonly<Fields>, parameters: Parameters): string {
  return every(
    Object.entries(expected).map(([field, value]) => {
      const stored = `(doc -> ${jsonPath(field)})`
      if (value === undefined) return `${stored} IS NULL`
      const json = parameters.json(value)
      // Equal values have the same JSON, except for the last digit of some numbers that SQLite has computed.
      return typeof value === 'number'
        ? `(json_type(${stored}) IN ('integer', 'real') AND ${stored} ->> '$' = ${json} ->> '$')`
        : `${stored} IS ${json}`
    }),
  )
}

/** The JSON is written by nested calls. */
const DIALECT: JsonDialect<Parameters> = {
  sum,
  pushed: (operation, parameters) => pushed(listAt(operation.path), operation, parameters),
  pulled: (operation, parameters) =>
    `json(${without(`doc -> ${jsonPath(operation.path)}`, operation, parameters)})`,
  object(path) {
    const at = jsonPath(path)
    return `json(CASE json_type(doc, ${at}) WHEN 'object' THEN doc -> ${at} ELSE '{}' END)`
  },
  set: (document, assignments) => called('json_set', document, assignments.map(withPath)),
  replace: (document, assignments) => called('json_replace', document, assignments.map(withPath)),
  remove: (document, paths) => called('json_remove', document, paths.map(jsonPath)),
}

const withPath = ([path, value]: Assignment) => `${jsonPath(path)}, ${value}`

/** The list at a path; an empty one, if there is none. */
function listAt(path: string): string {
  const at = jsonPath(path)
  return `CASE json_type(doc, ${at}) WHEN 'array' THEN doc -> ${at} ELSE '[]' END`
}

/** SQLite limits the arguments of one call, and D1 to 32: the JSON, and two per assignment. */
const MAX_ASSIGNMENTS = 15

function called(name: string, text: string, others: readonly string[]): string {
  if (others.length === 0) return text
  const first = [text, ...others.slice(0, MAX_ASSIGNMENTS)]
  return called(name, `${name}(${first.join(', ')})`, others.slice(MAX_ASSIGNMENTS))
}

/** The old value plus `by`, added as JavaScript adds. */
function sum({ path, by }: Of<'add'>, parameters: Parameters): string {
  const at = jsonPath(path)
  const isNumber = `json_type(doc, ${at}) IN ('integer', 'real')`
  const before = `CASE WHEN ${isNumber} THEN CAST(json_extract(doc, ${at}) AS REAL) ELSE 0.0 END`
  return `json(${numberString(`${before} + (${parameters.json(by)} ->> '$')`)})`
}

/** The list with `value` at its end, after the last `cap - 1` old elements. */
function pushed(
  list: string,
  { value, cap }: Pick<Of<'push'>, 'value' | 'cap'>,
  parameters: Parameters,
): string {
  const added = parameters.json(value)
  if (cap === undefined) return `json_insert(${list}, '$[#]', ${added})`
  const last = `SELECT json_group_array(list -> key) FROM (SELECT ${list} AS list), json_each(list) WHERE key > json_array_length(list) - ${parameters.bind(cap)}`
  return `json_insert((${last}), '$[#]', ${added})`
}

/** `list` without the positions of elements with `value` at `key` in the record's list; what is no list stays as it is. */
function without(list: string, { path, key, value }: Of<'pull'>, parameters: Parameters): string {
  const member = `CASE element.type WHEN 'object' THEN element.value -> ${jsonPath(key)} END`
  const at = jsonPath(path)
  const others = `SELECT json_group_array((${list}) -> element.key) FROM json_each(doc, ${at}) AS element WHERE (${member}) IS NOT ${parameters.json(value)}`
  return `CASE json_type(doc, ${at}) WHEN 'array' THEN (${others}) ELSE ${list} END`
}

/** The new value of a shadow, or undefined if the operations do not affect it. */
function changedShadow(
  operations: readonly Operation[],
  { path, parts: [first = '', ...rest], column, isLacking }: Shadow,
  parameters: Parameters,
): string | undefined {
  // What a part of the list is put to, or taken from, must be there.
  const ifThere = (list: string) => `iif(${isLacking}, NULL, ${list})`
  const affecting = operations.find(({ op, path: at }) =>
    op === 'set' || op === 'unset' ? isWithin(path, at) : at === first && op !== 'add',
  )
  switch (affecting?.op) {
    case 'set': {
      const inside = [first.slice(affecting.path.length + 1), ...rest]
      const text = asText(shadowAt(affecting.value, inside))
      return text === null ? 'NULL' : parameters.bind(text)
    }
    case 'push': {
      const pushing = { ...affecting, value: shadowAt(affecting.value, rest) }
      return ifThere(pushed(`coalesce(${column}, '[]')`, pushing, parameters))
    }
    case 'pull':
      return ifThere(without(column, affecting, parameters))
    default:
      return affecting && 'NULL'
  }
}

const ZEROS = '0'.repeat(20)

/**
 * The JSON of the REAL `value`, as `JSON.stringify` writes it: the fewest digits that give it back. A number has only one
 * spelling, so strings, and the values that SQLite reads from them, compare as the numbers do.
 */
function numberString(value: string): string {
  const shortest = [15, 16].map((digits) => {
    const text = `printf('%!.${digits}g', number)`
    return `WHEN CAST(${text} AS REAL) = number THEN ${text}`
  })
  const text = `SELECT CASE ${shortest.join(' ')} ELSE printf('%!.17g', number) END AS text FROM (SELECT ${value} AS number)`
  const mantissa =
    "rtrim(rtrim(ltrim(substr(text, 1, instr(text || 'e', 'e') - 1), '-'), '0'), '.')"
  const exponent =
    "iif(instr(text, 'e') > 0, CAST(substr(text, instr(text, 'e') + 1) AS INTEGER), NULL)"
  const parts = `SELECT iif(text LIKE '-%', '-', '') AS sign, ${mantissa} AS mantissa, ${exponent} AS exponent FROM (${text})`
  const digits = "replace(mantissa, '.', '')"
  const spelled = [
    'WHEN exponent IS NULL THEN mantissa',
    `WHEN exponent BETWEEN 0 AND 20 THEN substr(${digits} || '${ZEROS}', 1, exponent + 1)`,
    `WHEN exponent BETWEEN -6 AND -1 THEN '0.' || substr('${ZEROS}', 1, -exponent - 1) || ${digits}`,
    "ELSE mantissa || printf('e%+d', exponent)",
  ]
  return `(SELECT sign || CASE ${spelled.join(' ')} END FROM (${parts}))`
}

/** A change of one record as the assignments of an `UPDATE`, so that it is one atomic statement. */

import type { Change } from '../../../../src/ports/store/store.ts'
import { topOf } from '../../../../src/ports/values/paths.ts'
import { type Operation, operationsOf } from '../../planner/change.ts'
import { changedJson, type JsonDialect, type Of } from '../../sql/change.ts'
import { type Column, NULLS, type Table } from '../layout/columns.ts'
import { dateText } from '../layout/dates.ts'
import { json, scalarIn } from '../layout/operands.ts'
import { identifier, literal, type Parameters, stored } from '../layout/sql.ts'

/** The assignments of the columns that `change` affects. Empty if it changes nothing. */
export function compileChange(change: Change, table: Table, parameters: Parameters): string {
  const assignments = new Map<Column, string>()
  const insides = new Map<Column, Operation[]>()
  /** Whether fields hold null after it, of those that may hold null or be missing. */
  const nulls = new Map<string, boolean>()
  const note = ({ field, absence }: Column, operation: Operation) => {
    // Another version of the model may have stored null, which `unset` removes.
    if (absence !== 'either' && operation.op !== 'unset') return
    // A list from which something is pulled stays what it was, or null.
    if (operation.op === 'pull') return
    nulls.set(field, operation.op === 'set' && operation.value === null)
  }
  for (const operation of operationsOf(change)) {
    const { path } = operation
    const name = topOf(path)
    const column = table.byField.get(name)
    // A field without a column belongs to another version of the model.
    if (!column) continue
    if (path === name) {
      assignments.set(column, changedColumn(column, operation, parameters))
      note(column, operation)
    } else {
      const inside = { ...operation, path: path.slice(name.length + 1) }
      insides.set(column, [...(insides.get(column) ?? []), inside])
    }
  }
  for (const [column, operations] of insides) {
    const before = assignments.get(column) ?? column.value
    assignments.set(column, column.fromJson(changedObject(before, operations, parameters)))
  }
  const all = [...assignments].map(([{ sql }, value]) => `${sql} = ${value}`)
  return [...all, ...(table.hasNulls ? nullsAfter(nulls) : [])].join(', ')
}

function changedColumn(column: Column, operation: Operation, parameters: Parameters): string {
  const { sql, value: before, boundAs, fromJson } = column
  switch (operation.op) {
    case 'set':
      if (operation.value === null) return 'NULL'
      return column.kind === 'json'
        ? fromJson(parameters.json(operation.value))
        : parameters.bind(scalarText(operation.value, column), column.storedAs ?? column.type)
    case 'unset':
      return 'NULL'
    case 'add': {
      const type = Number.isSafeInteger(operation.by) ? boundAs : 'double precision'
      return sum(sql, operation.by, type, parameters)
    }
    case 'push':
      return fromJson(pushed(before, operation, parameters))
    case 'pull':
      return fromJson(without(before, operation, parameters))
  }
}

/** Adds as JavaScript adds. */
function sum(before: string, by: number, type: string, parameters: Parameters): string {
  return `COALESCE(${before}, 0) + ${parameters.bind(String(by), type)}`
}

/** The assignment of the column with the names of the fields that hold null, if it changes. */
function nullsAfter(fields: ReadonlyMap<string, boolean>): string[] {
  if (fields.size === 0) return []
  const column = identifier(NULLS)
  const names = [...fields.keys()]
  const kept = names.reduce((list, field) => `array_remove(${list}, ${literal(field)})`, column)
  const added = names.filter((field) => fields.get(field)).map(literal)
  return [`${column} = ${kept}${added.length > 0 ? ` || ARRAY[${added.join(', ')}]::text[]` : ''}`]
}

/** The text of a value that is no JSON, as its column stores it. */
export function scalarText(value: unknown, { kind }: Column): string {
  const text = value instanceof Date ? dateText(value) : String(value)
  return kind === 'text' ? stored(text) : text
}

/** The list with a value at its end, after the last `cap - 1` old elements. */
function pushed(before: string, { value, cap }: Of<'push'>, parameters: Parameters): string {
  const added = `jsonb_build_array(${parameters.json(value)})`
  const list = `CASE jsonb_typeof(${before}) WHEN 'array' THEN ${before} ELSE '[]' END || ${added}`
  return cap === undefined
    ? `(${list})`
    : `jsonb_path_query_array(${list}, '$[last - ${Math.max(0, cap - 1)} to last]')`
}

/** The list without the elements whose member `key` is `value`. Any other value stays as it is. */
function without(list: string, { key, value }: Of<'pull'>, parameters: Parameters): string {
  const member = `CASE jsonb_typeof(element) WHEN 'object' THEN element -> ${literal(key)} END`
  return `CASE jsonb_typeof(${list}) WHEN 'array' THEN (SELECT COALESCE(jsonb_agg(element ORDER BY position), '[]')
    FROM jsonb_array_elements(${list}) WITH ORDINALITY AS elements(element, position)
    WHERE (${member}) IS DISTINCT FROM ${parameters.json(value)}) ELSE ${list} END`
}

/** The object `before` after operations; anything but an object becomes one if there is something to set. */
function changedObject(
  before: string,
  operations: readonly Operation[],
  parameters: Parameters,
): string {
  const isObject = `jsonb_typeof(${before}) = 'object'`
  const changed = (document: string) =>
    changedJson(document, operations, dialectOf(before), parameters)
  const makesNone = operations.every(({ op }) => op === 'unset' || op === 'pull')
  return makesNone
    ? `CASE WHEN ${isObject} THEN ${changed(before)} ELSE ${before} END`
    : changed(`(CASE WHEN ${isObject} THEN ${before} ELSE '{}' END)`)
}

/** How what is inside of the object `before` changes. */
function dialectOf(before: string): JsonDialect<Parameters> {
  const keysOf = (path: string) => path.split('.')
  const at = (path: string) => json(before, keysOf(path))
  const list = (path: string) => `ARRAY[${keysOf(path).map(literal).join(', ')}]`
  // PostgreSQL takes a key for a position in a list; nothing is at an empty path.
  const where = (path: string, of: string, type: string) =>
    `CASE jsonb_typeof(${of}) WHEN '${type}' THEN ${list(path)} ELSE '{}'::text[] END`
  return {
    sum: ({ path, by }, parameters) =>
      `to_jsonb(${sum(scalarIn(at(path), 'number'), by, 'double precision', parameters)})`,
    pushed: (operation, parameters) => pushed(at(operation.path), operation, parameters),
    pulled: (operation, parameters) => without(at(operation.path), operation, parameters),
    object: (path) => `CASE jsonb_typeof(${at(path)}) WHEN 'object' THEN ${at(path)} ELSE '{}' END`,
    set: (document, assignments) =>
      assignments.reduce(
        (all, [path, value]) => `jsonb_set(${all}, ${list(path)}, ${value})`,
        document,
      ),
    replace: (document, assignments) =>
      assignments.reduce((all, [path, value]) => {
        const there = where(path, at(path), 'array')
        return `jsonb_set(${all}, ${there}, COALESCE(${value}, 'null'), false)`
      }, document),
    remove: (document, paths) =>
      paths.reduce((all, path) => {
        const parent = keysOf(path).slice(0, -1)
        return `(${all} #- ${where(path, json(before, parent), 'object')})`
      }, document),
  }
}

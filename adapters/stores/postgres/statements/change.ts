/**
 * A change of one record as the assignments of an `UPDATE`, so that it is one atomic statement.
 *
 * @module
 */

import type { Change } from '../../../../src/ports/store.ts'
import { type Operation, operationsOf } from '../../planner/change.ts'
import { type Column, NULLS, type Table } from '../layout/columns.ts'
import { dateText } from '../layout/dates.ts'
import { json, scalarIn } from '../layout/operands.ts'
import { identifier, literal, type Parameters } from '../layout/sql.ts'
import { stored, storedJson } from '../layout/text.ts'

/** The new value at one place, from the SQL of the old one, which may be NULL. */
type Next = (before: string) => string

/** What happens inside an object: to its members by name, or to the objects in them. */
interface Inside {
  /** Members that are set, whether or not they are there. */
  readonly set: Map<string, Next>
  /** Members that are changed only if they are lists. */
  readonly lists: Map<string, Next>
  readonly unset: Set<string>
  readonly objects: Map<string, Inside>
}

/** The assignments of the columns that `change` affects. Empty if it changes nothing. */
export function compileChange(change: Change, table: Table, parameters: Parameters): string {
  const assignments = new Map<Column, string>()
  const insides = new Map<Column, Inside>()
  const nulls = new Nulls(table)
  for (const operation of operationsOf(change)) {
    const [name = '', ...keys] = operation.path.split('.')
    const column = table.byField.get(name)
    const key = keys.pop()
    // A field without a column belongs to another version of the model.
    if (!column) continue
    if (key !== undefined) changeMember(objectAt(insides, column, keys), key, operation, parameters)
    else {
      assignments.set(column, changedColumn(column, operation, parameters))
      nulls.note(column, operation)
    }
  }
  for (const [column, inside] of insides) {
    if (!isWeak(inside)) nulls.note(column)
    const before = assignments.get(column) ?? column.value
    assignments.set(column, column.fromJson(changedObject(before, inside)))
  }
  const all = [...assignments].map(([{ sql }, value]) => `${sql} = ${value}`)
  return [...all, ...nulls.assignments()].join(', ')
}

/** The new value of a column. */
function changedColumn(column: Column, operation: Operation, parameters: Parameters): string {
  const { sql, value: before, boundAs, fromJson } = column
  switch (operation.op) {
    case 'set':
      return operation.value === null ? 'NULL' : bindValue(operation.value, column, parameters)
    case 'unset':
      return 'NULL'
    case 'add': {
      const type = Number.isSafeInteger(operation.by) ? boundAs : 'double precision'
      return sum(sql, operation.by, type, parameters)
    }
    case 'push':
      return fromJson(pushed(before, operation, parameters))
    case 'pull': {
      const kept = without(before, operation, parameters)
      return fromJson(`CASE jsonb_typeof(${before}) WHEN 'array' THEN ${kept} ELSE ${before} END`)
    }
  }
}

/** Notes the change of the member `key` of an object. */
function changeMember(at: Inside, key: string, operation: Operation, parameters: Parameters): void {
  switch (operation.op) {
    case 'set':
      at.set.set(key, () => bindJson(operation.value, parameters))
      break
    case 'unset':
      at.unset.add(key)
      break
    case 'add': {
      const number = (before: string) => scalarIn(before, 'number')
      at.set.set(
        key,
        (before) =>
          `to_jsonb(${sum(number(before), operation.by, 'double precision', parameters)})`,
      )
      break
    }
    case 'push':
      at.set.set(key, (before) => pushed(before, operation, parameters))
      break
    case 'pull':
      at.lists.set(key, (before) => without(before, operation, parameters))
  }
}

/** Adds as JavaScript adds. */
function sum(before: string, by: number, type: string, parameters: Parameters): string {
  return `COALESCE(${before}, 0) + ${parameters.bind(String(by), type)}`
}

/** The column with the names of the fields that hold null. */
class Nulls {
  readonly #fields = new Map<string, boolean>()
  readonly #table: Table

  constructor(table: Table) {
    this.#table = table
  }

  /** Notes that a field holds what an operation makes of it, or an object. */
  note({ field, absence }: Column, operation?: Operation): void {
    // A list from which something is pulled stays what it was, or null.
    if (absence !== 'either' || operation?.op === 'pull') return
    this.#fields.set(field, operation?.op === 'set' && operation.value === null)
  }

  /** The assignment of the column, if it changes. */
  assignments(): string[] {
    if (!this.#table.hasNulls || this.#fields.size === 0) return []
    const column = identifier(NULLS)
    const fields = [...this.#fields]
    const kept = fields.reduce(
      (list, [field]) => `array_remove(${list}, ${literal(field)})`,
      column,
    )
    const added = fields.filter(([, isNull]) => isNull).map(([field]) => literal(field))
    const all = added.length === 0 ? kept : `${kept} || ARRAY[${added.join(', ')}]::text[]`
    return [`${column} = ${all}`]
  }
}

/** A value that is not null as a parameter of its column's type. */
function bindValue(value: unknown, column: Column, parameters: Parameters): string {
  if (column.kind === 'json') return column.fromJson(bindJson(value, parameters))
  return parameters.bind(scalarText(value, column), column.type)
}

/** The text of a value that is no JSON, as its column stores it. */
export function scalarText(value: unknown, { kind }: Column): string {
  const text = value instanceof Date ? dateText(value) : String(value)
  return kind === 'text' ? stored(text) : text
}

/** A value as JSON, as a parameter. */
export function bindJson(value: unknown, parameters: Parameters): string {
  return parameters.bind(storedJson(value), 'jsonb')
}

/** The list with a value at its end, after the last `cap - 1` old elements. */
function pushed(
  before: string,
  { value, cap }: Extract<Operation, { op: 'push' }>,
  parameters: Parameters,
): string {
  const added = `jsonb_build_array(${bindJson(value, parameters)})`
  const list = `CASE jsonb_typeof(${before}) WHEN 'array' THEN ${before} ELSE '[]' END || ${added}`
  return cap === undefined
    ? `(${list})`
    : `jsonb_path_query_array(${list}, '$[last - ${Math.max(0, cap - 1)} to last]')`
}

/** The list without the elements whose member `key` is `value`. */
function without(
  list: string,
  { key, value }: Extract<Operation, { op: 'pull' }>,
  parameters: Parameters,
): string {
  const member = `CASE jsonb_typeof(element) WHEN 'object' THEN element -> ${literal(key)} END`
  return `(SELECT COALESCE(jsonb_agg(element ORDER BY position), '[]')
    FROM jsonb_array_elements(${list}) WITH ORDINALITY AS elements(element, position)
    WHERE (${member}) IS DISTINCT FROM ${bindJson(value, parameters)})`
}

function objectAt(inside: Map<Column, Inside>, column: Column, keys: readonly string[]): Inside {
  let at = inside.get(column) ?? nothing()
  inside.set(column, at)
  for (const key of keys) {
    const next = at.objects.get(key) ?? nothing()
    at.objects.set(key, next)
    at = next
  }
  return at
}

function nothing(): Inside {
  return { set: new Map(), lists: new Map(), unset: new Set(), objects: new Map() }
}

/** Whether the changes make no object where none is. */
function isWeak({ set, objects }: Inside): boolean {
  return set.size === 0 && [...objects.values()].every(isWeak)
}

/** The object `before` with its changes; anything but an object becomes one if there is something to set. */
function changedObject(before: string, changes: Inside): string {
  const isObject = `jsonb_typeof(${before}) = 'object'`
  if (isWeak(changes)) {
    return `CASE WHEN ${isObject} THEN ${changedMembers(before, changes)} ELSE ${before} END`
  }
  return changedMembers(`(CASE WHEN ${isObject} THEN ${before} ELSE '{}' END)`, changes, before)
}

function changedMembers(
  object: string,
  { set, lists, unset, objects }: Inside,
  before = object,
): string {
  const at = (key: string) => json(before, [key])
  const kept =
    unset.size === 0 ? object : `(${object} - ARRAY[${[...unset].map(literal).join(', ')}])`
  const members = [
    ...[...set].map(([key, next]) => `jsonb_build_object(${literal(key)}, ${next(at(key))})`),
    ...[...lists].map(([key, next]) => whereTypeIs('array', key, at(key), next(at(key)))),
    ...[...objects].map(([key, inner]) =>
      isWeak(inner)
        ? whereTypeIs('object', key, at(key), changedMembers(at(key), inner))
        : `jsonb_build_object(${literal(key)}, ${changedObject(at(key), inner)})`,
    ),
  ]
  return `(${[kept, ...members].join(' || ')})`
}

function whereTypeIs(type: string, key: string, before: string, next: string): string {
  return `CASE jsonb_typeof(${before}) WHEN '${type}' THEN jsonb_build_object(${literal(key)}, ${next}) ELSE '{}' END`
}

/**
 * Records as the JSON texts of the table, and back.
 *
 * @module
 */

import type { ObjectShape, Shape } from '../../../src/ports/shape.ts'
import type { Fields, Projection } from '../../../src/ports/store.ts'

/** `record` as it is stored: `_id` first, whatever the other names; dates as ISO 8601 with milliseconds. */
export function textOf({ _id, ...fields }: Fields): string {
  const rest = JSON.stringify(fields)
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** Reads records of a shape back from their texts. */
export function readerOf(shape: ObjectShape): (text: string) => Fields {
  const revive = reviverOf(shape)
  return revive ? (text) => revive(JSON.parse(text)) as Fields : JSON.parse
}

/** The part of `record` that a read returns. Takes the record apart: it must be the caller's own. */
export function project(record: Fields, select: Projection | undefined): Fields {
  if (!select) return record
  if ('include' in select) return included(record, treeOf(['_id', ...select.include])) as Fields
  exclude(record, treeOf(select.exclude.filter((path) => path !== '_id')))
  return record
}

type Revive = (value: unknown) => unknown

/** Turns texts into dates where the shape says so, in place; undefined where there are none. */
function reviverOf(shape: Shape): Revive | undefined {
  switch (shape.kind) {
    case 'date':
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list': {
      const revive = reviverOf(shape.element)
      return revive && ((value) => (Array.isArray(value) ? value.map(revive) : value))
    }
    case 'map': {
      const revive = reviverOf(shape.value)
      return (
        revive &&
        ((value) =>
          revived(
            value,
            (fields) => Object.keys(fields),
            () => revive,
          ))
      )
    }
    case 'object':
      return objectReviver(shape)
    case 'mixed':
      return shape.inside && reviverOf(shape.inside)
    default:
      return undefined
  }
}

function objectReviver(shape: ObjectShape): Revive | undefined {
  const revivers = new Map<string, Revive>()
  for (const [key, member] of shape.fields) {
    const revive = reviverOf(member)
    if (revive) revivers.set(key, revive)
  }
  if (revivers.size === 0) return undefined
  const keys = [...revivers.keys()]
  return (value) =>
    revived(
      value,
      () => keys,
      (key) => revivers.get(key),
    )
}

function revived(
  value: unknown,
  keysOf: (fields: Fields) => readonly string[],
  reviverFor: (key: string) => Revive | undefined,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = value as Fields
  for (const key of keysOf(fields)) {
    if (Object.hasOwn(fields, key)) fields[key] = reviverFor(key)?.(fields[key])
  }
  return fields
}

/** Dotted paths by their keys; an empty tree stands for a whole value. */
type Tree = Map<string, Tree>

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map()
  // A path inside another says nothing more: the shorter one comes first and stays empty.
  for (const path of [...paths].sort((a, b) => a.length - b.length)) grow(root, path.split('.'))
  return root
}

function grow(tree: Tree, [key = '', ...rest]: readonly string[]): void {
  const known = tree.get(key)
  if (known?.size === 0) return
  const next = known ?? new Map()
  tree.set(key, next)
  if (rest.length > 0) grow(next, rest)
}

function included(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) return value.map((element) => included(element, tree))
  if (!isObject(value)) return value
  const kept: Fields = {}
  for (const [key, member] of Object.entries(value)) {
    const inside = tree.get(key)
    if (inside) define(kept, key, inside.size === 0 ? member : included(member, inside))
  }
  return kept
}

function exclude(value: unknown, tree: Tree): void {
  if (Array.isArray(value)) for (const element of value) exclude(element, tree)
  if (!isObject(value)) return
  for (const [key, inside] of tree) {
    if (inside.size === 0) delete value[key]
    else if (Object.hasOwn(value, key)) exclude(value[key], inside)
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An assignment to `__proto__` would set the prototype. */
function define(fields: Fields, key: string, value: unknown): void {
  Object.defineProperty(fields, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

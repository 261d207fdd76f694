/**
 * The part of a record that a read returns, computed the same way for every store: databases differ in what they return
 * for a path that leads into a value that is not an object.
 */

import { setMember } from './members.ts'
import type { Fields, Projection } from './records.ts'

/** The part of `record` that a read returns. Modifies the record, so it must be the caller's own. */
export function project(record: Fields, select: Projection | undefined): Fields {
  if (!select) return record
  // A list has many records for one selection.
  const tree = selected.get(select) ?? treeOfSelection(select)
  selected.set(select, tree)
  if ('include' in select) return part(record, tree, true) as Fields
  exclude(record, tree)
  return record
}

const selected = new WeakMap<Projection, Tree>()

function treeOfSelection(select: Projection): Tree {
  if ('include' in select) return treeOf(['_id', ...select.include])
  return treeOf(select.exclude.filter((path) => path !== '_id'))
}

/** A copy of `record` without what is at `paths`; what holds none of them is not copied. */
export function withoutPaths(record: Fields, paths: readonly string[]): Fields {
  // Lists of paths are mostly those of a model: each is taken apart once.
  const tree = excluded.get(paths) ?? treeOf(paths)
  excluded.set(paths, tree)
  return part(record, tree, false) as Fields
}

const excluded = new WeakMap<readonly string[], Tree>()

/** A copy of what is at the paths of `tree`, or of all that is not. */
function part(value: unknown, tree: Tree, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((element) => part(element, tree, isNamed))
  if (!isObject(value)) return value
  const kept: Fields = {}
  for (const [key, member] of Object.entries(value)) {
    const inside = tree.get(key)
    if (inside && inside.size > 0) setMember(kept, key, part(member, inside, isNamed))
    else if ((inside !== undefined) === isNamed) setMember(kept, key, member)
  }
  return kept
}

/** Dotted paths by their keys; an empty tree means the whole value. */
type Tree = Map<string, Tree>

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map()
  // A path inside another adds nothing: the shorter one comes first and stays empty.
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

function exclude(value: unknown, tree: Tree): void {
  if (Array.isArray(value)) for (const element of value) exclude(element, tree)
  if (!isObject(value)) return
  for (const [key, inside] of tree) {
    if (inside.size === 0) delete value[key]
    else if (Object.hasOwn(value, key)) exclude(value[key], inside)
  }
}

function isObject(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  return !Array.isArray(value) && !(value instanceof Date)
}

/**
 * The part of a record that a read returns, computed the same way for every store: databases differ in what they return
 * for a path that leads into a value that is not an object.
 */

import { setMember } from '../values/members.ts'
import type { Fields, Projection } from './records.ts'

/** The part of `record` that a read returns; `record` stays as it is. */
export function project(record: Fields, select: Projection | undefined): Fields {
  if (!select) return record
  // A list has many records for one selection.
  const tree = selected.get(select) ?? treeOfSelection(select)
  selected.set(select, tree)
  return part(record, tree, 'include' in select) as Fields
}

const selected = new WeakMap<Projection, Tree>()

function treeOfSelection(select: Projection): Tree {
  if ('include' in select) return treeOf(['_id', ...select.include])
  return treeOf(select.exclude.filter((path) => path !== '_id'))
}

/** A copy of what is at the paths of `tree`, or of all that is not. */
function part(value: unknown, tree: Tree, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((element) => part(element, tree, isNamed))
  if (!isObject(value)) return value
  const kept: Fields = {}
  for (const [key, member] of Object.entries(value)) {
    const inside = tree.get(key)
    if (inside && inside.size > 0) setMember(kept, key, part(member, inside, isNamed))
    else if ((inside !== undefined) === isNamed) {
      if (key === '__proto__') setMember(kept, key, member)
      else kept[key] = member
    }
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

function isObject(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  return !Array.isArray(value) && !(value instanceof Date)
}

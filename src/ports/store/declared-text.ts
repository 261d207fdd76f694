/** A declaration as a one-line string. Stores and caches use it to tell which version of a model wrote what. */

import type { Declared } from './declared.ts'

/**
 * Longer or deeper declarations come from functions that make a new schema at each level, or from schemas with many
 * cycles.
 */
const MAX_PLACES = 2000
const MAX_DEPTH = 64

const SCALAR = 0
const OPEN = 1

/**
 * A declaration as JSON; `m`, `r` and `e` are its members, rest and elements, `d` the names of the members that have
 * defaults, `^2` the place two levels up.
 */
type Tree = typeof SCALAR | typeof OPEN | string | Branch

interface Branch {
  readonly m?: Readonly<Record<string, Tree>>
  readonly r?: Tree
  readonly e?: Tree
  readonly d?: readonly string[]
}

/** A declaration as a string: equal strings mean equal declarations. Undefined if it is endless or very long. */
export function declaredText(declared: Declared): string | undefined {
  try {
    return JSON.stringify(treeOf(declared, [], { places: 0 }))
  } catch (error) {
    if (error instanceof Endless) return undefined
    throw error
  }
}

/**
 * Whether everything that a record may hold under `other` is declared in `own` too, and every default of `own` is one of
 * `other`; both are such strings.
 */
export function covers(own: string, other: string): boolean {
  if (own === other) return true
  // References to a place further up could only be compared together with everything around them.
  if (own.includes('"^') || other.includes('"^')) return false
  return coversTree(JSON.parse(own), JSON.parse(other))
}

/** The string has become too long to be useful. */
class Endless extends Error {}

function treeOf(declared: Declared, above: readonly Declared[], seen: { places: number }): Tree {
  if (declared.open) return OPEN
  const { members, rest, elements, defaults } = declared
  if (!members && !rest && !elements) return SCALAR
  const known = above.indexOf(declared)
  if (known !== -1) return `^${above.length - known}`
  seen.places += 1
  if (seen.places > MAX_PLACES || above.length > MAX_DEPTH) throw new Endless()
  const inside = (place: Declared) => treeOf(place, [...above, declared], seen)
  const entries = [...(members ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...(members && { m: Object.fromEntries(entries.map(([name, one]) => [name, inside(one)])) }),
    ...(rest && { r: inside(rest) }),
    ...(elements && { e: inside(elements) }),
    ...(defaults && defaults.size > 0 && { d: [...defaults.keys()].sort() }),
  }
}

function coversTree(own: Tree, other: Tree): boolean {
  if (own === OPEN || other === SCALAR) return true
  if (own === SCALAR || typeof own === 'string' || typeof other !== 'object') return false
  return coversMembers(own, other) && coversElements(own, other)
}

function coversMembers(own: Branch, other: Branch): boolean {
  const { m = {}, r, d = [] } = other
  if (!other.m && r === undefined) return true
  if (own.d?.some((name) => !d.includes(name))) return false
  // A member that only `own` declares by name counts, in `other`, as one of the rest.
  const names = new Set([...Object.keys(m), ...(r === undefined ? [] : Object.keys(own.m ?? {}))])
  const named = [...names].every((name) => coversPlace(memberOf(own, name), memberOf(other, name)))
  return named && (r === undefined || coversPlace(own.r, r)) && (own.m ?? own.r) !== undefined
}

function coversElements(own: Branch, other: Branch): boolean {
  if (own.e === undefined && other.e === undefined) return true
  return coversTree(own.e ?? own, other.e ?? other)
}

function coversPlace(own: Tree | undefined, other: Tree | undefined): boolean {
  return other === undefined || (own !== undefined && coversTree(own, other))
}

function memberOf({ m, r }: Branch, name: string): Tree | undefined {
  return m && Object.hasOwn(m, name) ? m[name] : r
}

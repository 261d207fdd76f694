/**
 * Walks a JSON value, going through large lists and objects in slices, so that a body of a megabyte holds up no other
 * request.
 *
 * @module
 */

import { setMember } from '../ports/members.ts'
import { isLarge, Slices } from '../ports/slices.ts'
import type { Fields } from '../ports/store.ts'
import { isFields } from './writable.ts'

/** What a walk does. `C` is the context of a place, such as a depth or a shape. */
export interface Walk<C> {
  /** The replacement of a value that is not large; the value itself to keep it. */
  whole(value: unknown, context: C): unknown
  /** Called for a large value before its members; return false to treat it as a whole. */
  opens(value: object, context: C): boolean
  /** The context of `value`, a member or element of another; the `key` of an element is its index. */
  member(context: C, key: string | number, value: unknown): C
  /** Whether a member of an object with this context is left out. */
  drops?(key: string, context: C): boolean
}

/** The result of walking `value`; a large value is returned as it is if nothing in it has changed. */
export async function inSlices<C>(value: unknown, context: C, walk: Walk<C>): Promise<unknown> {
  if (!isLarge(value)) return walk.whole(value, context)
  const slices = new Slices()
  // The value before may have used up the slice.
  await slices.next()
  return walked(value, context, walk, slices)
}

async function walked<C>(
  value: object,
  context: C,
  walk: Walk<C>,
  slices: Slices,
): Promise<unknown> {
  if (!walk.opens(value, context)) return walk.whole(value, context)
  if (Array.isArray(value)) return walkedList(value, context, walk, slices)
  return isFields(value) ? walkedObject(value, context, walk, slices) : value
}

async function walkedList<C>(
  list: readonly unknown[],
  context: C,
  walk: Walk<C>,
  slices: Slices,
): Promise<readonly unknown[]> {
  let copy: unknown[] | undefined
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at]
    const inner = walk.member(context, at, item)
    const next = isLarge(item) ? await walked(item, inner, walk, slices) : walk.whole(item, inner)
    if (next !== item) {
      copy ??= list.slice()
      copy[at] = next
    }
    if (slices.isOver()) await slices.next()
  }
  return copy ?? list
}

async function walkedObject<C>(
  object: Fields,
  context: C,
  walk: Walk<C>,
  slices: Slices,
): Promise<Fields> {
  const keys = Object.keys(object)
  let copy: Fields | undefined
  for (const [at, key] of keys.entries()) {
    const isDropped = walk.drops?.(key, context) === true
    const item = object[key]
    const next = isDropped
      ? undefined
      : await member(item, walk.member(context, key, item), walk, slices)
    // Copy on the first change: everything before it is unchanged.
    if (isDropped || next !== item) copy ??= firstOf(object, keys, at)
    if (copy && !isDropped) setMember(copy, key, next)
    if (slices.isOver()) await slices.next()
  }
  return copy ?? object
}

function member<C>(item: unknown, inner: C, walk: Walk<C>, slices: Slices): unknown {
  return isLarge(item) ? walked(item, inner, walk, slices) : walk.whole(item, inner)
}

function firstOf(object: Fields, keys: readonly string[], count: number): Fields {
  const copy: Fields = {}
  for (const key of keys.slice(0, count)) setMember(copy, key, object[key])
  return copy
}

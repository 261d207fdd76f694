/**
 * The keys that no client ever writes (spec 2.1), at any depth.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'

const KEPT_BY_THE_SERVER = new Set([
  '_id',
  '__v',
  'createdAt',
  'updatedAt',
  '__proto__',
  'constructor',
  'prototype',
])

/** How many containers a field's value may nest, itself included (spec 8). */
const MAX_DEPTH = 8

/** Whether no client may ever write under `key`. */
export function isForbiddenKey(key: string): boolean {
  return KEPT_BY_THE_SERVER.has(key) || key.startsWith('$') || key.includes('.')
}

/** Whether `value` is an object that holds fields: no list, no Date, no null. */
export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

/** What `withoutForbiddenKeys` gives for a value that nests deeper than clients may write. */
export const tooDeep: unique symbol = Symbol('nested too deeply')

/** A copy of `value` without forbidden keys at any level, or `tooDeep`. */
export function withoutForbiddenKeys(value: unknown, depth = 1): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth > MAX_DEPTH) return tooDeep
  if (Array.isArray(value)) {
    const kept = value.map((item) => withoutForbiddenKeys(item, depth + 1))
    return kept.includes(tooDeep) ? tooDeep : kept
  }
  const kept: Fields = {}
  for (const [key, item] of Object.entries(value)) {
    if (isForbiddenKey(key)) continue
    const copy = withoutForbiddenKeys(item, depth + 1)
    if (copy === tooDeep) return tooDeep
    kept[key] = copy
  }
  return kept
}

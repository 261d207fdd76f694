/**
 * The schemas inside a schema, by the places where they stand.
 *
 * @module
 */

import type { $ZodType } from 'zod/v4/core'

/** How many schemas are looked at; one that a function makes anew at each level has no end. */
const MOST = 1000

/** Where schemas hold others. Nothing else is read: to read a default may be to call a function of the deployer's. */
const PARTS = [
  'innerType',
  'element',
  'in',
  'out',
  'left',
  'right',
  'keyType',
  'valueType',
  'rest',
  'catchall',
  'options',
  'items',
] as const

/** A schema, and the names of the members that lead to it. */
export interface Part {
  readonly schema: $ZodType
  readonly path: string
}

/**
 * `schema`, and every schema inside it, each once. To be called when the schema is used: what it refers to may be
 * declared after it. `rest` is true where there were too many to look at them all.
 */
export function partsIn(
  schema: $ZodType,
  path = '',
): { readonly parts: readonly Part[]; readonly rest: boolean } {
  const parts: Part[] = [{ schema, path }]
  const seen = new Set([schema])
  for (const part of parts) {
    if (parts.length > MOST) return { parts, rest: true }
    for (const inner of partsOf(part)) {
      if (seen.has(inner.schema)) continue
      seen.add(inner.schema)
      parts.push(inner)
    }
  }
  return { parts, rest: false }
}

function partsOf({ schema, path }: Part): Part[] {
  const def = schema._zod.def as unknown as Readonly<Record<string, unknown>>
  // What the getter of a lazy schema gives is made anew each time; zod keeps the first.
  const lazy = (schema._zod as { innerType?: unknown }).innerType
  const members = Object.entries(isObject(def.shape) ? def.shape : {})
  return [
    ...[lazy, ...PARTS.flatMap((name) => inside(def[name]))].map((one) => [path, one] as const),
    ...members.map(([key, one]) => [path === '' ? key : `${path}.${key}`, one] as const),
  ].flatMap(([at, one]) => (isSchema(one) ? [{ schema: one, path: at }] : []))
}

/** What stands in a list, or `value` itself. */
function inside(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isSchema(value: unknown): value is $ZodType {
  return isObject(value) && '_zod' in value
}

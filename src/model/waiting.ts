/**
 * Rules of a deployer that may take their time.
 *
 * @module
 */

import type { $ZodCheck, $ZodType } from 'zod/v4/core'

/** How many schemas of a model are looked at; one that a function makes anew at each level has no end. */
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
  'shape',
] as const

const known = new WeakMap<$ZodType, boolean>()
const handled = new WeakSet<object>()

/**
 * Whether something in `schema` may be asynchronous, and takes care of the rejections of such refinements. zod starts all
 * of a value's at once and awaits one after the other: when the first rejects nobody awaits the next, and its rejection
 * would end the process. To be called when the schema is used: what it refers to may be declared after it.
 */
export function mayWait(schema: $ZodType): boolean {
  const before = known.get(schema)
  if (before !== undefined) return before
  const found = new Set<$ZodType>([schema])
  let waits = false
  for (const one of found) {
    if (handleIn(one)) waits = true
    if (found.size <= MOST) for (const part of partsOf(one)) found.add(part)
  }
  // The rest is unknown.
  if (found.size > MOST) waits = true
  known.set(schema, waits)
  return waits
}

/** Takes care of the refinements of one schema; whether it has any, or a transform. */
function handleIn(schema: $ZodType): boolean {
  const { def } = schema._zod
  // `z.custom()` is its own check.
  const checks = [schema as unknown as $ZodCheck, ...(def.checks ?? [])]
  const custom = checks.filter(({ _zod }) => _zod.def.check === 'custom')
  for (const { _zod } of custom) {
    if (handled.has(_zod)) continue
    handled.add(_zod)
    const own = _zod.check
    _zod.check = (payload) => {
      const result = own(payload)
      if (result instanceof Promise) result.catch(() => {})
      return result
    }
  }
  return custom.length > 0 || def.type === 'transform' || 'transform' in def
}

function partsOf(schema: $ZodType): $ZodType[] {
  const def = schema._zod.def as unknown as Readonly<Record<string, unknown>>
  // What the getter of a lazy schema gives is made anew each time; zod keeps the first.
  const lazy = (schema._zod as { innerType?: unknown }).innerType
  const parts = PARTS.map((name) => def[name])
  return [lazy, ...parts].flatMap(inside).filter(isSchema)
}

/** What stands in a list or a shape, or `value` itself. */
function inside(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || isSchema(value)) return [value]
  return Object.values(value)
}

function isSchema(value: unknown): value is $ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value
}

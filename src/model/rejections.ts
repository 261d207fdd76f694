/**
 * Promises of a deployer's rules that zod leaves alone.
 *
 * @module
 */

import type { $ZodCheck, $ZodType } from 'zod/v4/core'

const seen = new WeakSet<object>()

/**
 * Takes care of every asynchronous refinement in `schema`. zod starts all of a value's at once and awaits one after
 * the other: when the first rejects nobody awaits the next, and its rejection would end the process.
 */
export function handleRejections(schema: $ZodType): void {
  if (seen.has(schema)) return
  seen.add(schema)
  const { def } = schema._zod
  // What the getter of a lazy schema gives is made anew each time; zod keeps the first.
  const { innerType } = schema._zod as { innerType?: unknown }
  // `z.custom()` is its own check.
  for (const check of [schema, ...(def.checks ?? [])]) handleIn(check as $ZodCheck)
  for (const part of [innerType, ...inside(def)]) if (isSchema(part)) handleRejections(part)
}

function handleIn(check: $ZodCheck): void {
  const { _zod } = check
  if (_zod.def.check !== 'custom' || seen.has(_zod)) return
  seen.add(_zod)
  const own = _zod.check
  _zod.check = (payload) => {
    const result = own(payload)
    if (result instanceof Promise) result.catch(() => {})
    return result
  }
}

/** What stands in a definition, in its lists and in its shape. */
function inside(value: object): unknown[] {
  return Object.values(value).flatMap((part) => {
    if (typeof part !== 'object' || part === null || isSchema(part)) return [part]
    return Object.values(part)
  })
}

function isSchema(value: unknown): value is $ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value
}

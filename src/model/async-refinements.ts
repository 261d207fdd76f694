/**
 * Detects asynchronous rules in a schema.
 *
 * @module
 */

import type { $ZodCheck, $ZodType } from 'zod/v4/core'
import { partsIn } from './parts.ts'

const known = new WeakMap<$ZodType, boolean>()
const handled = new WeakSet<object>()

/**
 * Whether something in `schema` may be asynchronous. Also handles the rejections of such refinements: zod starts all of
 * a value's refinements at once and awaits one after the other, so when the first rejects, no one awaits the next, and
 * its rejection would end the process. Call this when the schema is used, because what it refers to may be declared
 * after it.
 */
export function isAsync(schema: $ZodType): boolean {
  const before = known.get(schema)
  if (before !== undefined) return before
  const { parts, rest } = partsIn(schema)
  // What was not looked at may be asynchronous.
  let waits = rest
  for (const part of parts) if (handleIn(part.schema)) waits = true
  known.set(schema, waits)
  return waits
}

/** Handles the refinements of one schema; returns whether it has any, or a transform. */
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

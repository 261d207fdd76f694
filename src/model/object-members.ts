/** Which schema an object has for a member. */

import type { $ZodObjectDef, $ZodType } from 'zod/v4/core'

/** The schema of the member `name`: its own, or that of the members that the object does not name. */
export function memberOf(def: $ZodObjectDef, name: string): $ZodType | undefined {
  // Every object inherits members such as `toString`.
  return Object.hasOwn(def.shape, name) ? def.shape[name] : catchallOf(def)
}

/** The schema of the members that an object does not name, if it keeps such members. */
export function catchallOf({ catchall }: $ZodObjectDef): $ZodType | undefined {
  return catchall?._zod.def.type === 'never' ? undefined : catchall
}

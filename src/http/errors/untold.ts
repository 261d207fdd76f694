/** Refusals that tell what is stored in a field, for readers who may not see it. */

import type { HttpError } from './errors.ts'

/** The same refusals without it. */
export const untold: WeakMap<object, readonly [field: string, error: HttpError]> = new WeakMap()

/** Those again, without the value that was to be written: who restores a record has not sent it. */
export const unsent: WeakMap<object, HttpError> = new WeakMap()

/** Throws `error`, without what is stored in a field that `sees` does not find. */
export async function asSeen(
  error: object,
  sees: (field: string) => Promise<unknown>,
): Promise<never> {
  const [field, other] = untold.get(error) ?? []
  throw field === undefined || (await sees(field)) ? error : other
}

/**
 * One namespace for identifiers: what identifies somebody under one kind identifies nobody else under another. Without
 * it a phone number could shadow another user's name at the sign-in.
 *
 * Stores enforce one unique index for each field, none across fields. So the value is written first and looked for
 * afterwards, and taken back where another account has it under another kind. Of two writers at the same moment each
 * looks after both have written, so at least one of them sees the other: never do both keep it.
 *
 * @module
 */

import { all, any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { opens } from './ways-in.ts'

/** Whether an identifier among `values` identifies another account than the one with `id` under another kind. */
export async function isTakenElsewhere(
  auth: AuthInstance,
  values: Fields,
  id: string | undefined,
): Promise<boolean> {
  const { identifiers } = auth.settings
  const others = identifiers.flatMap(({ field }) => {
    const value = values[field]
    if (typeof value !== 'string') return []
    return identifiers
      .filter((other) => other.field !== field)
      .flatMap((other) =>
        [...new Set([value, other.normalize(value)])].flatMap((form): Filter[] =>
          form === undefined ? [] : [{ op: 'eq', field: other.field, value: form }],
        ),
      )
  })
  if (others.length === 0) return false
  const notSelf: Filter[] = id === undefined ? [] : [{ op: 'ne', field: '_id', value: id }]
  const filter = all([...notSelf, any(others)])
  const found = await auth.engine.stored.find({ filter, sort: [], limit: others.length })
  return found.some((user) =>
    others.some(
      (other) =>
        other.op === 'eq' && user[other.field] === other.value && opens(auth, user, other.field),
    ),
  )
}

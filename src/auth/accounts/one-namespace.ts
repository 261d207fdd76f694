/**
 * One namespace for identifiers: a value that identifies one account under one kind identifies no other account under
 * another kind. Otherwise one user's phone number could block another user's name at sign-in.
 *
 * Stores enforce unique indexes per field, none across fields. So the value is written first and looked up afterwards,
 * and removed again if another account has it under another kind. If two writers do this at the same moment, each looks
 * after both have written, so at least one of them sees the other: they never both keep it.
 *
 * @module
 */

import { invalidFields } from '../../http/refusals.ts'
import { all, any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { misreadAs } from '../setup/identifiers.ts'
import { opens } from './ways-in.ts'

/** Refuses new user names, in their normal form, that read as an e-mail address or a phone number. Throws a 400. */
export function checkNames({ settings }: AuthInstance, values: Fields): void {
  const { identifiers } = settings
  for (const identifier of identifiers) {
    const name = values[identifier.field]
    const kind = typeof name === 'string' ? misreadAs(identifier, name, identifiers) : undefined
    if (kind) throw invalidFields({ [identifier.field]: `Must not read as ${kind}.` })
  }
}

/** Whether an identifier among `values` identifies, under another kind, another account than the one with `id`. */
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

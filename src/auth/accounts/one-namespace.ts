/**
 * One namespace for identifiers: a value that identifies one account under one kind identifies no other account under
 * another kind. Otherwise one user's phone number could block another user's name at sign-in.
 *
 * Stores enforce unique indexes per field, none across fields. So the value is written first and looked up afterwards,
 * and removed again if another account has it under another kind. If two writers do this at the same moment, each looks
 * after both have written, so at least one of them sees the other: they never both keep it.
 */

import { invalidFields } from '../../http/refusals.ts'
import { all, any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { misreadAs } from '../setup/identifiers.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { AccountParts } from './proven-identifiers.ts'

/** Refuses new user names, in their normal form, that read as an e-mail address or a phone number. Throws a 400. */
export function checkNames({ identifiers }: AuthSettings, values: Fields): void {
  for (const identifier of identifiers) {
    const name = values[identifier.field]
    const kind = typeof name === 'string' ? misreadAs(identifier, name, identifiers) : undefined
    if (kind) throw invalidFields({ [identifier.field]: `Must not read as ${kind}.` })
  }
}

/** Whether an identifier among `values` identifies, under another kind, another account than the one with `id`. */
export async function isTakenElsewhere(
  { users, identifiers: proven, settings }: AccountParts,
  values: Fields,
  id: string,
): Promise<boolean> {
  const { identifiers } = settings
  const others = identifiers.flatMap(({ field }) => {
    const value = values[field]
    if (typeof value !== 'string') return []
    return identifiers
      .filter((other) => other.field !== field)
      .flatMap((other) => {
        const forms = [...new Set([value, other.normalize(value)])]
        return forms.flatMap((form) => (form === undefined ? [] : { field: other.field, form }))
      })
  })
  if (others.length === 0) return false
  const filters = others.map(({ field, form }): Filter => ({ op: 'eq', field, value: form }))
  const filter = all([{ op: 'ne', field: '_id', value: id }, any(filters)])
  const found = await users.engine.stored.find({ filter, sort: [], limit: others.length })
  return found.some((user) =>
    others.some(({ field, form }) => user[field] === form && proven.mayIdentify(user, field)),
  )
}

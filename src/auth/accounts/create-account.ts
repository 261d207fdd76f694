/**
 * Creates accounts.
 *
 * @module
 */

import { checkTime, inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { DECOY } from '../keys/passwords.ts'
import type { Report } from '../request-info/security-events.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { type IdentifierParts, isTakenElsewhere } from './one-namespace.ts'

/** The parts that a new account needs. */
export interface AccountParts extends IdentifierParts {
  readonly settings: AuthSettings
  readonly report: Report
}

/** How often a sign-up frees values that others only claim; they may claim them again meanwhile. */
const MAX_TRIES = 5

/**
 * Stores an account and runs `onRegister`; if that fails, the account is removed. Undefined if the identifier is taken.
 * The values are checked before the password is hashed, and it is hashed before the store can tell whether the account
 * exists, so the response takes the same time either way.
 */
export async function createAccount(
  parts: AccountParts,
  values: Fields,
  hash: (() => Promise<string>) | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { users, settings, report } = parts
  const { password } = users.names
  const checked = await users.engine.validate(hash ? { ...values, [password]: DECOY } : values)
  if (hash) checked[password] = await hash()
  checkTime(request)
  const user = await insertFreeing(parts, checked)
  if (!user) return undefined
  const remove = () => users.engine.remove(withId(String(user._id)))
  // An address that a provider vouches for is proven: another account's identifier of another kind must not block its
  // owner.
  if (hash && (await isTakenElsewhere(parts, checked, String(user._id)))) {
    await remove()
    return undefined
  }
  const { onRegister } = settings
  try {
    if (onRegister) {
      await inTime(request, () => onRegister(users.withoutSecrets(user) as never, request))
    }
  } catch (error) {
    await remove()
    throw error
  }
  report(request, 'signed-up', user._id)
  return user
}

async function insertFreeing(parts: AccountParts, values: Fields): Promise<Fields | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return await parts.users.engine.insert(values)
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409)) throw error
    }
    if (!(await freeIdentifiers(parts, values))) return undefined
  }
  return undefined
}

/** Whether all identifiers among `values` are free, including those that others only claimed without effect. */
async function freeIdentifiers(
  { settings, identifiers }: AccountParts,
  values: Fields,
): Promise<boolean> {
  for (const { field } of settings.identifiers) {
    if (values[field] !== undefined && !(await identifiers.free(field, values[field]))) return false
  }
  return true
}

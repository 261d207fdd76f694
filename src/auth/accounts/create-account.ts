/**
 * Making accounts.
 *
 * @module
 */

import { checkTime, inTime } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { Realm } from '../instance/instance.ts'
import { withoutSecrets } from '../instance/user.ts'
import { DECOY } from '../keys/passwords.ts'
import { report } from '../visit/security-events.ts'
import { isTakenElsewhere } from './one-namespace.ts'
import { freed } from './ways-in.ts'

/**
 * Stores an account and runs `onRegister`; if that fails, the account is taken back. Undefined when one with
 * the same identifier exists. The values are checked before the password is hashed, and it is hashed before
 * the store can tell whether the account exists: the answer takes the same time either way.
 */
export async function createAccount(
  realm: Realm,
  values: Fields,
  hash: (() => Promise<string>) | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { records, names, settings } = realm
  const checked = await records.validate(hash ? { ...values, [names.password]: DECOY } : values)
  if (hash) checked[names.password] = await hash()
  checkTime(request)
  const user = await inserted(realm, checked)
  if (!user) return undefined
  // An address that a provider vouches for is proven: no other kind of identifier keeps its owner out.
  if (hash && (await isTakenElsewhere(realm, checked, String(user._id)))) {
    await records.remove(withId(String(user._id)))
    return undefined
  }
  try {
    const { onRegister } = settings
    if (onRegister) {
      await inTime(request, () => onRegister(withoutSecrets(realm, user) as never, request))
    }
  } catch (error) {
    await records.remove(withId(String(user._id)))
    throw error
  }
  report(realm, request, 'signed-up', user._id)
  return user
}

/** How often a sign-up frees what others only claim; they may claim it again meanwhile. */
const MAX_TRIES = 5

async function inserted(realm: Realm, values: Fields): Promise<Fields | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return await realm.records.insert(values)
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409)) throw error
    }
    if (!(await identifiersFreed(realm, values))) return undefined
  }
  return undefined
}

/** Whether all identifiers among `values` are free, those that others only claimed without effect included. */
async function identifiersFreed(realm: Realm, values: Fields): Promise<boolean> {
  for (const { field } of realm.settings.identifiers) {
    if (values[field] !== undefined && !(await freed(realm, field, values[field]))) return false
  }
  return true
}

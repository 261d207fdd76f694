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
import type { AuthInstance } from '../instance/instance.ts'
import { withoutSecrets } from '../instance/user.ts'
import { DECOY } from '../keys/passwords.ts'
import { report } from '../visit/security-events.ts'
import { isTakenElsewhere } from './one-namespace.ts'
import { freed } from './ways-in.ts'

/**
 * Stores an account and runs `onRegister`; if that fails, the account is removed. Undefined if the identifier is taken.
 * The values are checked before the password is hashed, and it is hashed before the store can tell whether the account
 * exists, so the response takes the same time either way.
 */
export async function createAccount(
  auth: AuthInstance,
  values: Fields,
  hash: (() => Promise<string>) | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { engine, names, settings } = auth
  const checked = await engine.validate(hash ? { ...values, [names.password]: DECOY } : values)
  if (hash) checked[names.password] = await hash()
  checkTime(request)
  const user = await inserted(auth, checked)
  if (!user) return undefined
  // An address that a provider vouches for is proven: another account's identifier of another kind must not block its
  // owner.
  if (hash && (await isTakenElsewhere(auth, checked, String(user._id)))) {
    await engine.remove(withId(String(user._id)))
    return undefined
  }
  try {
    const { onRegister } = settings
    if (onRegister) {
      await inTime(request, () => onRegister(withoutSecrets(auth, user) as never, request))
    }
  } catch (error) {
    await engine.remove(withId(String(user._id)))
    throw error
  }
  report(auth, request, 'signed-up', user._id)
  return user
}

/** How often a sign-up frees values that others only claim; they may claim them again meanwhile. */
const MAX_TRIES = 5

async function inserted(auth: AuthInstance, values: Fields): Promise<Fields | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return await auth.engine.insert(values)
    } catch (error) {
      if (!(error instanceof HttpError && error.status === 409)) throw error
    }
    if (!(await identifiersFreed(auth, values))) return undefined
  }
  return undefined
}

/** Whether all identifiers among `values` are free, including those that others only claimed without effect. */
async function identifiersFreed(auth: AuthInstance, values: Fields): Promise<boolean> {
  for (const { field } of auth.settings.identifiers) {
    if (values[field] !== undefined && !(await freed(auth, field, values[field]))) return false
  }
  return true
}

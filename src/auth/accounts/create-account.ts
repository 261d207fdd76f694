/** Creates accounts. */

import { checkTime, inTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { isDuplicate } from '../../records/engine/clashes.ts'
import type { NewAccount } from '../setup/method.ts'
import { firstRole } from '../setup/roles.ts'
import { isTakenElsewhere } from './one-namespace.ts'
import type { AccountParts } from './proven-identifiers.ts'

/** How often a sign-up frees values that others only claim; they may claim them again meanwhile. */
const MAX_TRIES = 5

/** How an account is made. */
export interface Making {
  /** Whether its address is vouched for: another account's identifier of another kind must not block its owner. */
  readonly isProven?: boolean
  readonly claim?: NewAccount['claim'] | undefined
}

/**
 * Stores an account, of checked values, and runs `onRegister`; if that fails, the account is removed. Undefined if the
 * identifier is taken, or what is to open it.
 */
export async function createAccount(
  parts: AccountParts,
  id: string,
  values: Fields,
  request: ApiRequest,
  { isProven = false, claim }: Making = {},
): Promise<Fields | undefined> {
  const { users, settings, report } = parts
  checkTime(request)
  const user = await insert(parts, id, values)
  if (!user) return undefined
  const remove = () => users.engine.remove(withId(id))
  const { onRegister } = settings
  try {
    if (!isProven && (await isTakenElsewhere(parts, values, id))) {
      await remove()
      return undefined
    }
    if (claim && !(await claim(user))) {
      await remove()
      return undefined
    }
    if (onRegister) {
      await inTime(request, () => onRegister(users.withoutSecrets(user) as never, request))
    }
  } catch (error) {
    await remove()
    throw error
  }
  report(request, 'signed-up', id)
  return user
}

/** Makes an account of `values`, and of an `address` that is proven. */
export async function createProven(
  parts: AccountParts,
  values: Fields,
  address: Fields | undefined,
  request: ApiRequest,
  { name, claim }: NewAccount = {},
): Promise<Fields | undefined> {
  const { settings, users, identifiers } = parts
  const { names } = users
  // A name by which people sign in is chosen by them, and belongs to one of them.
  const isIdentifier = settings.identifiers.some(({ field }) => field === names.name)
  const takesName = name !== undefined && users.has('name') && !isIdentifier
  const record = await users.engine.validate({
    ...(takesName && { [names.name]: name }),
    ...values,
    [names.role]: firstRole(settings.roles),
    ...(address && { ...address, ...identifiers.proofOf(address, names.email) }),
  })
  return createAccount(parts, await users.newId(), record, request, { isProven: true, claim })
}

async function insert(
  parts: AccountParts,
  id: string,
  values: Fields,
): Promise<Fields | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      return await parts.users.engine.insert(values, id)
    } catch (error) {
      if (!isDuplicate(error)) throw error
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

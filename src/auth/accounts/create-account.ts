/** How accounts are made: by a sign-up, by a method, or by a provider's profile that no account has yet. */

import { checkTime, inTime } from '../../http/deadline.ts'
import { causeOf } from '../../http/errors/outages.ts'
import { unlessTaken } from '../../model/own-records.ts'
import { idsOf } from '../../ports/services/logger.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change } from '../../ports/store/store.ts'
import { isDuplicate } from '../../records/engine/clashes.ts'
import { holds } from '../../records/engine/known-updates.ts'
import { tellOfEnded } from '../delivery/messages.ts'
import type { AuthRequest } from '../instance/instance.ts'
import type { Provider, Verified } from '../providers/provider.ts'
import * as refuse from '../refusals.ts'
import { hookFailed, report } from '../request-info.ts'
import type { NewAccount } from '../setup/method.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { takenElsewhere } from './credentials.ts'

/** How often a sign-up frees values that others only claim; they may claim them again meanwhile. */
const MAX_TRIES = 5

/**
 * Stores an account, of checked values, and runs `onRegister`; if that fails, the account is removed. Undefined if the
 * identifier is taken, or what is to open it. The address of a `proven` one is vouched for: another account's identifier of
 * another kind must not block its owner.
 */
export async function createAccount(
  auth: AuthRequest,
  id: string,
  values: Fields,
  proven?: NewAccount,
): Promise<Fields | undefined> {
  const { users, settings, request, context } = auth
  const user = await insert(auth, id, values)
  if (!user) return undefined
  const remove = async () => {
    try {
      await users.engine.remove(withId(id))
    } catch (error) {
      // It can be signed in to, although its sign-up was refused.
      const told = { ...idsOf(request), userId: id, error: causeOf(error) }
      auth.logger.error('an account whose sign-up failed could not be removed', told)
      throw error
    }
  }
  const { onRegister } = settings
  try {
    const isTaken = !proven && (await takenElsewhere(auth, values, id)).length > 0
    if (isTaken || (proven?.claim && !(await proven.claim(user)))) {
      await remove()
      return undefined
    }
    if (onRegister) {
      await inTime(request, () => onRegister(users.withoutSecrets(user) as never, request, context))
    }
  } catch (error) {
    await remove()
    hookFailed(error)
  }
  report(auth, 'signed-up', id)
  return user
}

export async function createProven(
  auth: AuthRequest,
  values: Fields,
  address: Fields | undefined,
  more: NewAccount = {},
): Promise<Fields | undefined> {
  const { settings, users, identifiers } = auth
  const { names } = users
  const { name } = more
  // A name by which people sign in is chosen by them, and belongs to one of them.
  const isIdentifier = settings.identifiers.some(({ field }) => field === names.name)
  const takesName = name !== undefined && users.has('name') && !isIdentifier
  // Nor does one that the model refuses, such as a long one, keep its bearer out.
  const named = takesName ? { [names.name]: name } : {}
  const isNamed = await users.engine.validateChanges(named).catch(() => undefined)
  const record = await users.engine.validate({
    ...(isNamed && named),
    ...values,
    [names.role]: settings.roles.first,
    ...(address && { ...address, ...identifiers.proofOf(address, names.email) }),
  })
  const id = await users.newId()
  const user = await createAccount(auth, id, record, more)
  if (!user || !settings.onRegister) return user
  // As onRegister has left it, unless somebody else has taken it over meanwhile.
  const now = await users.byId(id)
  const same = [names.password, names.takeovers, ...Object.keys(identifiers.stateOf(user))]
  return now && holds(now, Object.fromEntries(same.map((name) => [name, user[name]]))) ? now : user
}

async function insert(auth: AuthRequest, id: string, values: Fields): Promise<Fields | undefined> {
  const { settings, identifiers, users, request } = auth
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    checkTime(request)
    try {
      return await users.engine.insert(values, id)
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
    for (const { field } of settings.identifiers) {
      const isFree = values[field] === undefined || (await identifiers.free(field, values[field]))
      if (!isFree) return undefined
    }
  }
  return undefined
}

/** First sign-ins in parallel create one account: the others find it in the next round. */
const MAX_ROUNDS = 10

/** Nothing was done because another write came first: the next round reads the new state. */
type Again = 'again'

interface Arrival {
  readonly provider: Provider
  readonly profile: Verified
  /** The profile's address as accounts store it, if addresses are identifiers. */
  readonly email: string | undefined
  readonly isVouched: boolean
}

/**
 * The account of a profile: found by the provider's id, linked by a proven mailbox, or created; a disabled one is left as it
 * is. Throws a 409.
 *
 * If someone signs up with another person's address, they must not keep a way in once the owner of the mailbox signs in
 * (account pre-hijacking): a provider that vouches for the address proves it, and proven-identifiers.ts says what that
 * ends.
 */
export async function accountOf(
  auth: AuthRequest,
  provider: Provider,
  profile: Verified,
): Promise<Fields> {
  const mail = auth.settings.identifiers.find(({ kind }) => kind === 'email')
  const email = profile.email === undefined ? undefined : mail?.normalize(profile.email)
  const isVouched = profile.emailVerified === true && email !== undefined
  const arrival = { provider, profile, email, isVouched }
  for (let tries = 0; tries < MAX_ROUNDS; tries += 1) {
    const account =
      (await findLinked(auth, arrival)) ??
      (await linkOwner(auth, arrival)) ??
      (await makeAccount(auth, arrival))
    if (account && account !== 'again') return account
  }
  throw refuse.accountExists()
}

/** The account linked with the provider's id. A verified address in the profile proves the account's own. */
async function findLinked(
  auth: AuthRequest,
  arrival: Arrival,
): Promise<Fields | Again | undefined> {
  const { users, identifiers } = auth
  const { provider, profile, email, isVouched } = arrival
  const { email: field } = users.names
  const user = await users.by(provider.idField, profile.id)
  if (!user || users.isDisabled(user)) return user
  const isNews = isVouched && user[field] === email && !identifiers.isProven(user, field)
  return isNews && identifiers.keepsProof(field) ? prove(auth, arrival, user) : user
}

/** The account that has the profile's address, now linked; undefined if none has it. */
async function linkOwner(auth: AuthRequest, arrival: Arrival): Promise<Fields | Again | undefined> {
  const { users, identifiers, settings } = auth
  const { provider, profile, email, isVouched } = arrival
  const { email: field } = users.names
  const owner = email === undefined ? undefined : await users.by(field, email)
  if (!owner) return undefined
  if (!identifiers.mayIdentify(owner, field)) {
    // A claim that reserves nothing blocks no one, and passes to the person who proves the address.
    if (isVouched) await identifiers.free(field, email)
    return isVouched ? 'again' : undefined
  }
  if (users.isDisabled(owner)) return owner
  if (owner[provider.idField] === profile.id) return 'again'
  const isKnown = identifiers.isProven(owner, field)
  if (!isVouched || !mayLink(settings.linking, owner[provider.idField], isKnown)) {
    throw refuse.accountExists()
  }
  return prove(auth, arrival, owner)
}

/**
 * Whether a proof of the account's mailbox may link the provider; it replaces another link only if it is the account's
 * first proof.
 */
function mayLink(linking: AuthSettings['linking'], link: unknown, isProven: boolean): boolean {
  const isLinked = (link ?? undefined) !== undefined
  if (isProven) return !isLinked
  return linking === 'reset' || (linking === 'keep' && !isLinked)
}

async function prove(auth: AuthRequest, arrival: Arrival, user: Fields): Promise<Fields | Again> {
  const { users, identifiers, settings } = auth
  const { provider, profile } = arrival
  const { email: field } = users.names
  const { idField } = provider
  const isFirst = !identifiers.hasProof(user) && settings.linking !== 'keep'
  const change: Change = isFirst ? identifiers.takeover(user, { field, idField }) : {}
  const set = { ...change.set, ...identifiers.proofOf(user, field), [idField]: profile.id }
  const unchanged = { ...users.passwordState(user), [field]: user[field], [idField]: user[idField] }
  const expect = { ...unchanged, ...identifiers.stateOf(user) }
  const after = await unlessTaken(() => users.update(user._id, { ...change, set, expect }))
  if (after) await tellOfEnded(auth, user, after)
  return after ?? 'again'
}

/**
 * A new account; undefined if another request has just created it. It gets the profile's address only if the provider
 * vouches for it, because anyone may claim another person's.
 */
function makeAccount(
  auth: AuthRequest,
  { provider, profile, email, isVouched }: Arrival,
): Promise<Fields | undefined> {
  const { id, name } = profile
  const address = isVouched ? { [auth.users.names.email]: email } : undefined
  return createProven(auth, { [provider.idField]: id }, address, { name })
}

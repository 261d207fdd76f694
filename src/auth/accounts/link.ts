/**
 * From a provider's profile to an account: found by the provider's id, linked by a proven mailbox, or created (spec
 * 4.5, behaviour 3).
 *
 * If someone signs up with another person's address, they must not keep a way in once the owner of the mailbox signs in
 * (account pre-hijacking): a provider that vouches for the address proves it, and ways-in.ts says what that ends.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { withId } from '../../ports/filter.ts'
import { type Change, DuplicateKey, type Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { isDisabled } from '../instance/user.ts'
import type { Provider, Verified } from '../providers/provider.ts'
import { accountExists } from '../refusals.ts'
import { firstRole } from '../setup/roles.ts'
import { createAccount } from './create-account.ts'
import {
  freed,
  hasProof,
  isProven,
  opens,
  proofFieldOf,
  proofOf,
  proofState,
  takeover,
} from './ways-in.ts'

/** First sign-ins in parallel create one account: the others find it in the next round. */
const MAX_TRIES = 10

/** Is told of an account that was linked, before and after it. */
type OnLink = (before: Fields, after: Fields) => void

/** The account of a profile; a disabled one is left as it is. Throws a 409. */
export async function accountOf(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  request: ApiRequest,
  onLink: OnLink,
): Promise<Fields> {
  const email = addressOf(auth, profile)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const account =
      (await found(auth, provider, profile, onLink)) ??
      (await ownerLinked(auth, provider, profile, email, onLink)) ??
      (await made(auth, provider, profile, email, request))
    if (account && account !== 'again') return account
  }
  throw accountExists()
}

/** Nothing was done because another write came first: the next round reads the new state. */
type Again = 'again'

/**
 * The account linked with the provider's id. A verified address in the profile proves the account's address, if they
 * are the same.
 */
async function found(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  onLink: OnLink,
): Promise<Fields | Again | undefined> {
  const user = await findBy(auth, provider.idField, profile.id)
  if (!user || isDisabled(auth, user)) return user
  const field = auth.names.email
  const isNews = verifies(auth, profile, user) && !isProven(auth, user, field)
  if (!isNews || proofFieldOf(auth, field) === undefined) return user
  return proven(auth, provider, profile, user, onLink)
}

/** The account that has the profile's address, now linked; undefined if none has it. */
async function ownerLinked(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  email: string | undefined,
  onLink: OnLink,
): Promise<Fields | Again | undefined> {
  const field = auth.names.email
  const owner = email === undefined ? undefined : await findBy(auth, field, email)
  if (!owner) return undefined
  const vouched = profile.emailVerified === true
  if (!opens(auth, owner, field)) {
    // A claim that reserves nothing blocks no one, and passes to the person who proves the address.
    if (vouched) await freed(auth, field, email)
    return vouched ? 'again' : undefined
  }
  if (isDisabled(auth, owner)) return owner
  if (owner[provider.idField] === profile.id) return 'again'
  if (!vouched || !mayLink(auth, provider, owner, isProven(auth, owner, field)))
    throw accountExists()
  return proven(auth, provider, profile, owner, onLink)
}

/**
 * Whether a proof of the account's mailbox may link the provider; it replaces another link only if it is the account's
 * first proof.
 */
function mayLink(
  { settings }: AuthInstance,
  { idField }: Provider,
  owner: Fields,
  isKnown: boolean,
): boolean {
  const isLinked = (owner[idField] ?? undefined) !== undefined
  if (isKnown) return !isLinked
  return settings.linking === 'reset' || (settings.linking === 'keep' && !isLinked)
}

/**
 * Links the provider and stores the proof in one conditional step. The first proof on the account ends every other way
 * in.
 */
async function proven(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  user: Fields,
  onLink: OnLink,
): Promise<Fields | Again> {
  const { names, engine, settings } = auth
  const { idField } = provider
  const isFirst = !hasProof(auth, user) && settings.linking !== 'keep'
  const kept = { field: names.email, idField }
  const change: Change = isFirst ? takeover(auth, user, kept) : {}
  const set = { ...change.set, ...proofOf(auth, user, names.email), [idField]: profile.id }
  const fields = [names.email, names.password, names.passwordChangedAt, idField]
  const unchanged = Object.fromEntries(fields.map((field) => [field, user[field]]))
  const expect = { ...unchanged, ...proofState(auth, user) }
  try {
    const byId = withId(String(user._id))
    const after = await engine.stored.update(byId, { ...change, set }, { expect })
    if (after) onLink(user, after)
    return after ?? 'again'
  } catch (error) {
    if (error instanceof DuplicateKey) return 'again'
    throw error
  }
}

function emailIdentifier(settings: AuthInstance['settings']) {
  return settings.identifiers.find(({ kind }) => kind === 'email')
}

/** The profile's address as accounts store it, if addresses are identifiers. */
function addressOf({ settings }: AuthInstance, { email }: Verified): string | undefined {
  return email === undefined ? undefined : emailIdentifier(settings)?.normalize(email)
}

/** Whether the provider vouches for the account's address. */
function verifies(auth: AuthInstance, profile: Verified, user: Fields): boolean {
  const email = addressOf(auth, profile)
  return profile.emailVerified === true && email !== undefined && user[auth.names.email] === email
}

function findBy(
  { engine }: AuthInstance,
  field: string,
  value: string,
): Promise<Fields | undefined> {
  return engine.first({ op: 'eq', field, value })
}

/**
 * A new account; undefined if another request has just created it. It gets the profile's address only if the provider
 * vouches for it, because anyone may claim another person's.
 */
function made(
  auth: AuthInstance,
  provider: Provider,
  profile: Verified,
  email: string | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { names, settings } = auth
  const { fields } = settings.model.shape
  // A name by which people sign in is chosen by them, and belongs to one of them.
  const isIdentifier = settings.identifiers.some(({ field }) => field === names.name)
  const takesName = fields.has(names.name) && !isIdentifier
  const verified: Fields =
    email !== undefined && profile.emailVerified === true ? { [names.email]: email } : {}
  const values: Fields = {
    [provider.idField]: profile.id,
    [names.role]: firstRole(settings.roles),
    ...verified,
    ...(email !== undefined &&
      profile.emailVerified === true &&
      proofOf(auth, verified, names.email)),
    ...(profile.name !== undefined && takesName && { [names.name]: profile.name }),
  }
  return createAccount(auth, values, undefined, request)
}

/**
 * From a provider's profile to an account: found by the provider's id, linked by a proven mailbox, or created.
 *
 * If someone signs up with another person's address, they must not keep a way in once the owner of the mailbox signs in
 * (account pre-hijacking): a provider that vouches for the address proves it, and proven-identifiers.ts says what that
 * ends.
 */

import type { ApiRequest } from '../../http/request.ts'
import { type Change, DuplicateKey, type Fields } from '../../ports/store.ts'
import type { Provider, Verified } from '../providers/provider.ts'
import { accountExists } from '../refusals.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { createProven } from './create-account.ts'
import type { AccountParts } from './proven-identifiers.ts'

/** First sign-ins in parallel create one account: the others find it in the next round. */
const MAX_TRIES = 10

/** Is told of an account that was linked, before and after it. */
type OnLink = (before: Fields, after: Fields) => void

/** Nothing was done because another write came first: the next round reads the new state. */
type Again = 'again'

/** A sign-in by a provider. */
interface Arrival {
  readonly provider: Provider
  readonly profile: Verified
  /** The profile's address as accounts store it, if addresses are identifiers. */
  readonly email: string | undefined
  /** Whether the provider vouches for that address. */
  readonly isVouched: boolean
  readonly onLink: OnLink
}

/** The account of a profile; a disabled one is left as it is. Throws a 409. */
export async function accountOf(
  parts: AccountParts,
  provider: Provider,
  profile: Verified,
  request: ApiRequest,
  onLink: OnLink,
): Promise<Fields> {
  const mail = parts.settings.identifiers.find(({ kind }) => kind === 'email')
  const email = profile.email === undefined ? undefined : mail?.normalize(profile.email)
  const isVouched = profile.emailVerified === true && email !== undefined
  const arrival = { provider, profile, email, isVouched, onLink }
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const account =
      (await findLinked(parts, arrival)) ??
      (await linkOwner(parts, arrival)) ??
      (await makeAccount(parts, arrival, request))
    if (account && account !== 'again') return account
  }
  throw accountExists()
}

/**
 * The account linked with the provider's id. A verified address in the profile proves the account's address, if they
 * are the same.
 */
async function findLinked(
  parts: AccountParts,
  arrival: Arrival,
): Promise<Fields | Again | undefined> {
  const { users, identifiers } = parts
  const { provider, profile, email, isVouched } = arrival
  const { email: field } = users.names
  const user = await users.by(provider.idField, profile.id)
  if (!user || users.isDisabled(user)) return user
  const isNews = isVouched && user[field] === email && !identifiers.isProven(user, field)
  return isNews && identifiers.keepsProof(field) ? prove(parts, arrival, user) : user
}

/** The account that has the profile's address, now linked; undefined if none has it. */
async function linkOwner(
  parts: AccountParts,
  arrival: Arrival,
): Promise<Fields | Again | undefined> {
  const { users, identifiers, settings } = parts
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
    throw accountExists()
  }
  return prove(parts, arrival, owner)
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

/**
 * Links the provider and stores the proof in one conditional step. The first proof on the account ends every other way
 * in.
 */
async function prove(
  { users, identifiers, settings }: AccountParts,
  { provider, profile, onLink }: Arrival,
  user: Fields,
): Promise<Fields | Again> {
  const { email: field } = users.names
  const { idField } = provider
  const isFirst = !identifiers.hasProof(user) && settings.linking !== 'keep'
  const change: Change = isFirst ? identifiers.takeover(user, { field, idField }) : {}
  const set = { ...change.set, ...identifiers.proofOf(user, field), [idField]: profile.id }
  const unchanged = { ...users.passwordState(user), [field]: user[field], [idField]: user[idField] }
  try {
    const expect = { ...unchanged, ...identifiers.stateOf(user) }
    const after = await users.update(user._id, { ...change, set }, expect)
    if (after) onLink(user, after)
    return after ?? 'again'
  } catch (error) {
    if (error instanceof DuplicateKey) return 'again'
    throw error
  }
}

/**
 * A new account; undefined if another request has just created it. It gets the profile's address only if the provider
 * vouches for it, because anyone may claim another person's.
 */
function makeAccount(
  parts: AccountParts,
  { provider, profile, email, isVouched }: Arrival,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { id, name } = profile
  const address = isVouched ? { [parts.users.names.email]: email } : undefined
  return createProven(parts, { [provider.idField]: id }, address, request, { name })
}

/**
 * From a provider's profile to an account: found by the provider's id, linked by a proven mailbox, or made
 * (spec 4.5, behaviour 3).
 *
 * Whoever signs up with another's address must not keep a way in once the owner of the mailbox comes (account
 * pre-hijacking): nobody has proven the mailbox then, so the password, the sessions and the other providers of
 * the account end in the step that links it.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { all, type Filter, withId } from '../ports/filter.ts'
import { type Change, DuplicateKey, type Fields } from '../ports/store.ts'
import { createAccount } from './accounts.ts'
import { codesEnded } from './codes.ts'
import { channelsThere } from './delivery.ts'
import { cleared } from './lockout.ts'
import type { Profile, Provider } from './providers/provider.ts'
import { isDisabled, nextChange, proofOf, type Realm } from './realm.ts'
import { accountExists, notActive } from './refusals.ts'
import { firstRole } from './roles.ts'
import { sessionsEnded } from './sessions.ts'

/** First sign-ins in parallel make one account: the others find it in the next round. */
const MAX_TRIES = 10

/** The account of a profile. Throws 403 or 409. */
export async function accountOf(
  realm: Realm,
  provider: Provider,
  profile: Profile,
  request: ApiRequest,
): Promise<Fields> {
  const email = addressOf(realm, profile)
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const known = await findBy(realm, provider.idField, profile.id)
    if (known) return active(realm, known)
    const owner = email && (await findBy(realm, realm.names.email, email))
    const account = owner
      ? await linked(realm, provider, profile, active(realm, owner))
      : await made(realm, provider, profile, email, request)
    if (account) return account
  }
  throw accountExists()
}

/** Whether a verified address of the profile is news: the mailbox is proven from now on. */
export function newProof(realm: Realm, user: Fields, profile: Profile): Fields {
  const { names, settings } = realm
  const address = user[names.email]
  const verified = profile.emailVerified === true && profile.email !== undefined
  const same = verified && emailIdentifier(settings)?.normalize(profile.email ?? '') === address
  return same && user[names.provenEmail] !== address ? proofOf(realm, address) : {}
}

function emailIdentifier(settings: Realm['settings']) {
  return settings.identifiers.find(({ kind }) => kind === 'email')
}

/** The profile's address as accounts store it, where addresses are identifiers. */
function addressOf({ settings }: Realm, { email }: Profile): string | undefined {
  return email === undefined ? undefined : emailIdentifier(settings)?.normalize(email)
}

function findBy({ records }: Realm, field: string, value: string): Promise<Fields | undefined> {
  return records.first({ op: 'eq', field, value })
}

function active(realm: Realm, user: Fields): Fields {
  if (isDisabled(realm, user)) throw notActive()
  return user
}

/** Links in one conditional step; undefined when the account has changed since it was read. */
async function linked(
  realm: Realm,
  provider: Provider,
  profile: Profile,
  owner: Fields,
): Promise<Fields | undefined> {
  const { names, records } = realm
  const change = linkingChange(realm, provider, profile, owner)
  const same: Filter[] = [
    withId(String(owner._id)),
    { op: 'eq', field: provider.idField, value: null },
  ]
  const unchanged = [names.email, names.password, names.passwordChangedAt, names.provenEmail]
  const expect = Object.fromEntries(unchanged.map((field) => [field, owner[field]]))
  try {
    return (await records.stored.update(all(same), change, { expect })) ?? undefined
  } catch (error) {
    if (error instanceof DuplicateKey) return undefined
    throw error
  }
}

/** What linking writes. Throws 409 where the profile may not be linked. */
function linkingChange(realm: Realm, provider: Provider, profile: Profile, owner: Fields): Change {
  const { names, settings } = realm
  const linkedId = owner[provider.idField] ?? undefined
  if (profile.emailVerified !== true || linkedId !== undefined) throw accountExists()
  const proven = owner[names.provenEmail] === owner[names.email]
  if (!proven && settings.linking === 'refuse') throw accountExists()
  const change = proven || settings.linking === 'keep' ? {} : withoutOldWays(realm, provider, owner)
  const proof = proofOf(realm, owner[names.email])
  return { ...change, set: { ...change.set, ...proof, [provider.idField]: profile.id } }
}

/** Ends every way in that was set up before anybody had proven the mailbox. */
function withoutOldWays(realm: Realm, provider: Provider, owner: Fields): Change {
  const { names, settings } = realm
  const { set, unset } = cleared(realm)
  const others = [...settings.providers.values()].map(({ idField }) => idField)
  // An address that gets codes is a way in too; the mailbox itself is the owner's.
  const addresses = channelsThere(realm).map((channel) => settings.delivery.toField[channel])
  const kept = [provider.idField, names.email]
  // Those too that the owner did not have when he was read: they may be set at this very moment.
  const gone = [...new Set([names.password, ...others, ...addresses])].filter(
    (field) => !kept.includes(field) && settings.model.shape.fields.has(field),
  )
  return {
    set: {
      ...set,
      ...sessionsEnded(realm),
      [names.passwordChangedAt]: nextChange(realm, owner),
    },
    unset: [...unset, ...codesEnded(realm), ...gone],
  }
}

/** A new account; undefined when somebody else has just made it. */
function made(
  realm: Realm,
  provider: Provider,
  profile: Profile,
  email: string | undefined,
  request: ApiRequest,
): Promise<Fields | undefined> {
  const { names, settings } = realm
  const { fields } = settings.model.shape
  const proven = email !== undefined && profile.emailVerified === true
  const values: Fields = {
    [provider.idField]: profile.id,
    [names.role]: firstRole(settings.roles),
    ...(email !== undefined && { [emailIdentifier(settings)?.field ?? names.email]: email }),
    ...(proven && proofOf(realm, email)),
    ...(profile.name !== undefined && fields.has(names.name) && { [names.name]: profile.name }),
  }
  return createAccount(realm, values, undefined, request)
}

/**
 * The ways into an account: which exist, which of them open it, and what each proof ends. All routes use these rules.
 *
 * An identifier is *claimed* until it is *proven*: by using a code sent by mail or SMS, or by a provider that verified
 * it. Each has its own channel: mail proves an email address, SMS a phone number.
 *
 * | way in | proven by | nothing is proven | it is proven itself | only another one is proven |
 * |---|---|---|---|---|
 * | email address | a mailed code, a provider | password, mailed codes | password, mailed codes | nothing; reserves nothing |
 * | phone number, if SMS can be sent | a texted code | password, texted codes | password, texted codes | nothing; reserves nothing |
 * | user name, and any identifier that no channel reaches | never | password | – | password |
 * | recovery address (`mail.toField`, `sms.toField` if no identifier) | never | codes | – | codes |
 * | provider | the provider | sign-in | – | sign-in |
 * | address that is to replace the email address (`pendingEmail`) | a mailed code, signed in | nothing | – | nothing |
 * | session, pending code | – | itself | – | itself |
 *
 * | proof | what it ends, in the same conditional step |
 * |---|---|
 * | the first on an account: nothing was proven before | every other way in: the other identifiers, recovery addresses, providers, sessions and pending codes. The password too, unless the proof was made signed in (that session stays) or sets a new one |
 * | a later one of the same identifier, by a code that resets | password, sessions, pending codes: what a reset ends |
 * | of an address that is only claimed on an account with a proven identifier | the claim there; the proof makes an account of its own |
 * | of a new address (`pendingEmail`) that another account only claims | the claim there, and its pending codes |
 *
 * So a person who proves an address gets an account of their own, and nothing that others held before opens it
 * afterwards. Records from before these fields existed count as claimed: they stay usable until the first proof.
 *
 * @module
 */

import { all, withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import { codesEnded } from '../codes.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { nextChange } from '../instance/user.ts'
import { channelsThere, isThere } from '../setup/channels.ts'
import type { Channel } from '../setup/delivery-options.ts'
import { PROVIDER_IDS } from '../setup/field-names.ts'
import { cleared } from '../sign-in/lockout.ts'
import { sessionsEnded, sessionsOf } from '../sign-in/sessions.ts'
import { onlyClient } from '../visit/known-clients.ts'

/** Whether the stored field is an identifier that a code or a provider can prove here. */
export function isProvable({ settings, names }: AuthInstance, field: string): boolean {
  const { identifiers, providers, delivery } = settings
  const kind = identifiers.find((identifier) => identifier.field === field)?.kind
  if (kind !== 'email' && kind !== 'phone') return false
  const channel: Channel = kind === 'email' ? 'email' : 'sms'
  const isReached = isThere(settings, channel) && delivery.toField[channel] === names[kind]
  return isReached || (kind === 'email' && providers.size > 0)
}

/** The stored field that records the proof of the identifier in `field`; undefined if the model has none. */
export function proofFieldOf({ settings, names }: AuthInstance, field: string): string | undefined {
  const proof = { [names.email]: names.provenEmail, [names.phone]: names.provenPhone }[field]
  return proof !== undefined && settings.model.shape.fields.has(proof) ? proof : undefined
}

/** Whether the identifier in `field` of `user` is proven. */
export function isProven(auth: AuthInstance, user: Fields, field: string): boolean {
  const proof = proofFieldOf(auth, field)
  const value = user[field]
  if (proof === undefined || typeof value !== 'string' || value === '') return false
  return isProvable(auth, field) && user[proof] === value
}

/** Whether any identifier of `user` is proven. */
export function hasProof(auth: AuthInstance, user: Fields): boolean {
  return auth.settings.identifiers.some(({ field }) => isProven(auth, user, field))
}

/** Whether the identifier or address in `field` opens the account: it gets codes, and signs in with the password. */
export function opens(auth: AuthInstance, user: Fields, field: string): boolean {
  return !isProvable(auth, field) || isProven(auth, user, field) || !hasProof(auth, user)
}

/** The change that marks the identifier in `field` of `user` as proven, if the model has a field for that. */
export function proofOf(auth: AuthInstance, user: Fields, field: string): Fields {
  const proof = isProvable(auth, field) ? proofFieldOf(auth, field) : undefined
  return proof === undefined ? {} : { [proof]: user[field] }
}

/**
 * The values that decide what is proven. A step that relies on `opens` or `hasProof` must expect them to be unchanged.
 */
export function proofState(auth: AuthInstance, user: Fields): Fields {
  const fields = auth.settings.identifiers.flatMap(({ field }) => {
    const proof = proofFieldOf(auth, field)
    return proof === undefined ? [] : [field, proof]
  })
  fields.push(auth.names.pendingEmail)
  return Object.fromEntries(fields.map((field) => [field, user[field]]))
}

/**
 * The address that a code is to prove: the one that is to replace the account's, else the account's own, unless it is
 * proven.
 */
export function addressToVerify(auth: AuthInstance, user: Fields): string | undefined {
  const { names } = auth
  const pending = user[names.pendingEmail]
  if (typeof pending === 'string') return pending
  const email = user[names.email]
  return typeof email === 'string' && !isProven(auth, user, names.email) ? email : undefined
}

/** The session and client of a user who makes a proof while signed in. */
export interface OwnVisit {
  readonly sessionId: string | undefined
  readonly client: string | undefined
}

/** What stays after a takeover. */
export interface Kept {
  /** The identifier that was proven. */
  readonly field: string
  /** The stored field of the provider that proved it. */
  readonly idField?: string
  /** Set if the proof was made while signed in: the password, and the session and client of the visit, stay. */
  readonly signedIn?: OwnVisit
}

/**
 * The first proof on an account: `kept` is proven, and every other way in ends, even those that `user` did not have
 * when it was read.
 */
export function takeover(auth: AuthInstance, user: Fields, kept: Kept): Change {
  const { names, settings } = auth
  const { fields } = settings.model.shape
  const { set, unset } = cleared(auth)
  const proofs = [names.provenEmail, names.provenPhone, names.pendingEmail]
  const stays = [kept.field, kept.idField, proofFieldOf(auth, kept.field)]
  const others = [...identifiersAndAddresses(auth), ...providerFields(auth), ...proofs]
  const gone = kept.signedIn ? others : [...others, names.password]
  return {
    set: {
      ...set,
      ...sessionsLeft(auth, user, kept.signedIn?.sessionId),
      ...onlyClient(auth, user, kept.signedIn?.client),
      ...proofOf(auth, user, kept.field),
      ...(!kept.signedIn && { [names.passwordChangedAt]: nextChange(auth, user) }),
    },
    unset: [
      ...unset,
      ...codesEnded(auth),
      ...[...new Set(gone)].filter((field) => !stays.includes(field) && fields.has(field)),
    ],
  }
}

/** Ends all sessions except the one with `id`. If one stays, the step must expect the session list of `user`. */
function sessionsLeft(auth: AuthInstance, user: Fields, id: string | undefined): Fields {
  const kept = sessionsOf(auth, user).filter((session) => session.id === id)
  return kept.length > 0 ? { [auth.names.refreshTokens]: kept } : sessionsEnded(auth)
}

/** The fields of an account's identifiers and of the addresses for its codes; each once. */
export function identifiersAndAddresses({ settings }: AuthInstance): readonly string[] {
  const { identifiers, delivery } = settings
  const addresses = channelsThere(settings).map((channel) => delivery.toField[channel])
  return [...new Set([...identifiers.map(({ field }) => field), ...addresses])]
}

/** Includes providers that are switched off, because they may be switched on again. */
function providerFields({ names, settings }: AuthInstance): readonly string[] {
  const enabled = [...settings.providers.values()].map(({ idField }) => idField)
  return [...enabled, ...PROVIDER_IDS.map((name) => names[name])]
}

/**
 * Frees the value of an identifier that someone else wants: a claim on an account with another, proven identifier
 * reserves nothing. Against a proof of the value (`isProof`), a claim on an account that has proven nothing reserves
 * nothing either. False if the value is taken.
 */
export async function freed(
  auth: AuthInstance,
  field: string,
  value: unknown,
  isProof = false,
): Promise<boolean> {
  if (typeof value !== 'string') return false
  const { engine } = auth
  const claim = { op: 'eq', field, value } as const
  const holder = await engine.first(claim)
  if (!holder) return true
  const isClaim = isProvable(auth, field) && !isProven(auth, holder, field)
  const yields = isProof && proofFieldOf(auth, field) !== undefined && isClaim
  if (opens(auth, holder, field) && !yields) return false
  const expect = proofState(auth, holder)
  await engine.stored.update(
    all([withId(String(holder._id)), claim]),
    // A code that was sent to the value must not open what is left of the account.
    { unset: yields ? [field, ...codesEnded(auth)] : [field] },
    { expect },
  )
  return true
}

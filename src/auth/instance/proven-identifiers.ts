/**
 * The identifiers of an account, which of them open it, and what each proof ends. All routes use these rules.
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
 */

import type { Fields } from '../../ports/store/records.ts'
import type { Change } from '../../ports/store/store.ts'
import { channelsThere } from '../setup/delivery-settings.ts'
import { isProvable } from '../setup/model-checks.ts'
import type { Codes } from './codes.ts'
import type { KnownClients } from './known-clients.ts'
import type { Lockout } from './lockout.ts'
import type { Sessions } from './sessions.ts'
import type { Users } from './users.ts'

/** The session and client of a user who makes a proof while signed in. */
export interface OwnVisit {
  readonly sessionId: string | undefined
  readonly client: string | undefined
}

/** What stays after a takeover. */
export interface Kept {
  readonly field: string
  /** The stored field of the provider that proved it. */
  readonly idField?: string
  /** Set if the proof was made while signed in: the password, and the session and client of the visit, stay. */
  readonly signedIn?: OwnVisit
}

export interface TakeoverParts {
  readonly users: Users
  readonly sessions: Sessions
  readonly clients: KnownClients
  readonly codes: Codes
  readonly lockout: Lockout
}

export class ProvenIdentifiers {
  /** The stored fields of identifiers and of the addresses for codes; each once. */
  readonly fields: readonly string[]
  readonly #parts: TakeoverParts
  readonly #identifiers: readonly string[]
  readonly #provable: ReadonlySet<string>
  /** The stored field of the proof, by identifier, if the model has one. */
  readonly #proofFields: ReadonlyMap<string, string>

  constructor(parts: TakeoverParts) {
    const { users } = parts
    const { settings } = users
    const { identifiers, delivery, names } = settings
    const addresses = channelsThere(settings).map((channel) => delivery.toField[channel])
    this.#parts = parts
    this.#identifiers = identifiers.map(({ field }) => field)
    this.fields = [...new Set([...this.#identifiers, ...addresses])]
    this.#provable = new Set(
      identifiers.filter(({ kind }) => isProvable(settings, kind)).map(({ field }) => field),
    )
    const proofs = [
      [names.email, names.provenEmail],
      [names.phone, names.provenPhone],
    ] as const
    this.#proofFields = new Map(proofs.filter(([, proof]) => users.declared([proof]).length > 0))
  }

  /** Whether the stored field is an identifier that a code or a provider can prove here. */
  isProvable(field: string): boolean {
    return this.#provable.has(field)
  }

  /** Whether the model can record a proof of the identifier in `field`. */
  keepsProof(field: string): boolean {
    return this.#proofFields.has(field)
  }

  isProven(user: Fields, field: string): boolean {
    const proof = this.#proofFields.get(field)
    const value = user[field]
    if (proof === undefined || typeof value !== 'string' || value === '') return false
    return this.isProvable(field) && user[proof] === value
  }

  hasProof(user: Fields): boolean {
    return this.#identifiers.some((field) => this.isProven(user, field))
  }

  /** Whether the identifier or address in `field` opens the account: it gets codes, and signs in with the password. */
  mayIdentify(user: Fields, field: string): boolean {
    return !this.isProvable(field) || this.isProven(user, field) || !this.hasProof(user)
  }

  /** The change that marks the identifier in `field` of `user` as proven, if the model has a field for that. */
  proofOf(user: Fields, field: string): Fields {
    const proof = this.isProvable(field) ? this.#proofFields.get(field) : undefined
    return proof === undefined ? {} : { [proof]: user[field] }
  }

  /** What is proven depends on these: a step that relies on `mayIdentify` or `hasProof` must expect them. */
  stateOf(user: Fields): Fields {
    const fields = this.#identifiers.flatMap((field) => {
      const proof = this.#proofFields.get(field)
      return proof === undefined ? [] : [field, proof]
    })
    fields.push(this.#parts.users.names.pendingEmail)
    return Object.fromEntries(fields.map((field) => [field, user[field]]))
  }

  /** Whether the account may not sign in yet, because its mailbox has to be proven first. */
  awaitsProof(user: Fields): boolean {
    const { settings, names } = this.#parts.users
    const isAsked = settings.emailVerification.required && typeof user[names.email] === 'string'
    return isAsked && !this.isProven(user, names.email)
  }

  /** The one that is to replace the account's, else the account's own, unless it is proven. */
  addressToVerify(user: Fields): string | undefined {
    const { pendingEmail, email } = this.#parts.users.names
    const [pending, own] = [user[pendingEmail], user[email]]
    if (typeof pending === 'string') return pending
    return typeof own === 'string' && !this.isProven(user, email) ? own : undefined
  }

  /**
   * The first proof on an account: `kept` is proven, and every other way in ends, even those that `user` did not have
   * when it was read.
   */
  takeover(user: Fields, kept: Kept): Change {
    const { users, clients, codes, lockout } = this.#parts
    const { names } = users
    const proofs = [names.provenEmail, names.provenPhone, names.pendingEmail]
    const stays = [kept.field, kept.idField, this.#proofFields.get(kept.field)]
    const others = [...this.fields, ...users.settings.providerFields, ...proofs]
    const gone = kept.signedIn ? others : [...others, names.password]
    return {
      set: {
        ...lockout.cleared.set,
        ...this.#sessionsLeft(user, kept.signedIn?.sessionId),
        ...clients.only(user, kept.signedIn?.client),
        ...this.proofOf(user, kept.field),
        ...(!kept.signedIn && { [names.passwordChangedAt]: users.nextChange(user) }),
      },
      ...(users.has('takeovers') && { increment: { [names.takeovers]: 1 } }),
      unset: [
        ...lockout.cleared.unset,
        ...codes.allEnded,
        ...users.declared([...new Set(gone)].filter((field) => !stays.includes(field))),
      ],
    }
  }

  /** Ends all sessions except the one with `id`. If one stays, the step must expect the session list of `user`. */
  #sessionsLeft(user: Fields, id: string | undefined): Fields {
    const { sessions } = this.#parts
    const kept = sessions.of(user).filter((session) => session.id === id)
    return kept.length > 0 ? { [sessions.field]: kept } : sessions.allEnded
  }

  /**
   * Frees the value of an identifier that someone else wants: a claim on an account with another, proven identifier
   * reserves nothing. Against a proof of the value (`isProof`), a claim on an account that has proven nothing reserves
   * nothing either. False if the value is taken.
   */
  async free(field: string, value: unknown, isProof = false): Promise<boolean> {
    if (typeof value !== 'string') return false
    const { users } = this.#parts
    const holder = await users.by(field, value)
    if (!holder) return true
    const isClaim = this.isProvable(field) && !this.isProven(holder, field)
    const yields = isProof && this.keepsProof(field) && isClaim
    if (this.mayIdentify(holder, field) && !yields) return false
    // A code that was sent to the value is bound to it, and opens nothing of what is left of the account.
    const expect = { ...this.stateOf(holder), [field]: value }
    await users.update(holder._id, { unset: [field], expect })
    return true
  }
}

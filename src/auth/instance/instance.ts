/**
 * A realm: one auth router in one app, with everything that its routes and guards share.
 *
 * @module
 */

import { declaredPart, present, projected } from '../../model/present.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { Host } from '../../records/engine/host.ts'
import type { Records } from '../../records/engine/record-engine.ts'
import type { ModelFiles } from '../../uploads/model-files.ts'
import { type AccessTokens, accessTokens } from '../keys/access-tokens.ts'
import { boundedHashing, type Hashing } from '../keys/bounded-hashing.ts'
import { type Keys, keysFor, type Purpose } from '../keys/hmac.ts'
import { type Passwords, passwordsOf } from '../keys/passwords.ts'
import { type UsedTokens, usedTokenSchema, usedTokens } from '../providers/used-tokens.ts'
import { SECRETS, type StoredNames } from '../setup/field-names.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { type Afterwards, afterwards } from './afterwards.ts'
import { type Breaker, breaker } from './circuit-breaker.ts'
import { type Decoys, decoys } from './decoys.ts'
import { type MailCheck, mailCheck } from './mail-check.ts'

/** What routes and guards share. */
export interface Realm {
  readonly host: Host
  readonly settings: AuthSettings
  readonly names: StoredNames
  /** The engine of the user model; its `stored` takes the conditional steps that the rules rest on. */
  readonly records: Records
  /** The file fields of the user model, which other routers may take uploads for. */
  readonly files: ModelFiles
  readonly tokens: AccessTokens
  readonly passwords: Passwords
  readonly hashing: Hashing
  readonly breaker: Breaker
  readonly mailCheck: MailCheck
  readonly afterwards: Afterwards
  readonly decoys: Decoys
  /** Where a provider's tokens, or tickets of second steps, sign in once only. */
  readonly usedTokens: UsedTokens | undefined
  readonly clientKeys: Keys
  readonly codeKeys: Keys
  readonly refreshKeys: Keys
  readonly sessionKeys: Keys
  readonly ticketKeys: Keys
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** The realm of `settings` on `mount` in the app of `host`. */
export function createRealm(host: Host, settings: AuthSettings, mount: string): Realm {
  const { now } = host
  const hashing = boundedHashing()
  const { secrets, issuer, audience } = settings.token
  const name = { model: settings.model.name, mount: mount || '/' }
  const parties = { issuer: issuer ?? name.mount, audience: audience ?? [name.model] }
  const keys = (purpose: Purpose) => keysFor(secrets, name, purpose)
  const sender = breaker(now)
  return {
    host,
    settings,
    names: settings.names,
    records: host.records(settings.model),
    files: host.filesOf(settings.model),
    tokens: accessTokens(settings.token, parties, keys('access token'), now),
    passwords: passwordsOf(settings.password, host.hasher, hashing, host.logger),
    hashing,
    breaker: sender,
    mailCheck: mailCheck(settings.delivery, sender, now),
    afterwards: afterwards(),
    decoys: decoys(host.twin(settings.model, 'decoys'), settings, host.logger),
    usedTokens: singleUse(host, settings),
    clientKeys: keys('known client'),
    codeKeys: keys('one-time code'),
    refreshKeys: keys('refresh token'),
    sessionKeys: keys('stored session'),
    ticketKeys: keys('sign-in ticket'),
    now,
  }
}

function singleUse(
  host: Host,
  { providers, model, onLogin }: AuthSettings,
): UsedTokens | undefined {
  if (!onLogin && ![...providers.values()].some((provider) => provider.singleUse)) return undefined
  return usedTokens(host.collection(usedTokenSchema), model.name, host.now)
}

/** A user's record without its secrets, and without what the model does not declare. */
export function withoutSecrets({ settings, names }: Realm, record: Fields): Fields {
  const secrets = SECRETS.map((name) => names[name])
  const declared = declaredPart(settings.model, record)
  return projected(declared, { exclude: [...settings.model.hidden, ...secrets] })
}

/** A user as responses show it. */
export function shownUser(realm: Realm, record: Fields): unknown {
  const { model, list } = realm.settings
  return present(model, withoutSecrets(realm, record), list.lean === true)
}

/** The user with `id`, secrets included. */
export function userById({ records }: Realm, id: string): Promise<Fields | undefined> {
  return records.first(withId(id))
}

/** Whether the account may not sign in. */
export function isDisabled({ settings }: Realm, user: Fields): boolean {
  return settings.disabledField !== undefined && user[settings.disabledField] === true
}

/** When the password was last changed, epoch milliseconds; 0 for never. */
export function changedAt({ names }: Realm, user: Fields): number {
  const value = user[names.passwordChangedAt]
  return value instanceof Date ? value.getTime() : 0
}

/** The instant of a password change made now: later than the last one, even on a clock that stands still. */
export function nextChange(realm: Realm, user: Fields): Date {
  return new Date(Math.max(realm.now(), changedAt(realm, user) + 1))
}

/** Whether a stored date is after `at`, epoch milliseconds; false for what is no date. */
export function isAfter(date: unknown, at: number): boolean {
  return date instanceof Date && date.getTime() > at
}

/**
 * Creates what the routes and guards of one auth router share.
 *
 * @module
 */

import type { Host } from '../../records/engine/host.ts'
import { SerialQueue } from '../../records/engine/serial-queue.ts'
import { accessTokens } from '../keys/access-tokens.ts'
import { boundedHashing } from '../keys/bounded-hashing.ts'
import { keysFor, type Purpose } from '../keys/hmac.ts'
import { legacyTokens } from '../keys/legacy-tokens.ts'
import { passwordsOf } from '../keys/passwords.ts'
import { type UsedTokens, usedTokenSchema, usedTokens } from '../providers/used-tokens.ts'
import type { AuthSettings } from '../setup/settings.ts'
import { afterwards } from './afterwards.ts'
import { breakers } from './circuit-breaker.ts'
import { decoys } from './decoys.ts'
import type { AuthInstance } from './instance.ts'
import { mailCheck } from './mail-check.ts'
/** The instance of `settings` on `mount` in the app of `host`. */
export function createInstance(host: Host, settings: AuthSettings, mount: string): AuthInstance {
  const { now } = host
  const hashing = boundedHashing()
  const { secrets, issuer, audience } = settings.token
  const name = { model: settings.model.name, mount: mount || '/' }
  const parties = { issuer: issuer ?? name.mount, audience: audience ?? [name.model] }
  const keys = (purpose: Purpose) => keysFor(secrets, name, purpose)
  const senders = breakers(now)
  return {
    host,
    mount,
    settings,
    names: settings.names,
    engine: host.engine(settings.model),
    files: host.filesOf(settings.model),
    tokens: accessTokens(settings.token, parties, keys('access token'), now),
    legacy: settings.legacy && legacyTokens(settings.legacy, now),
    passwords: passwordsOf(settings.password, host.hasher, hashing, host.logger),
    hashing,
    breakers: senders,
    mailCheck: mailCheck(settings.delivery, senders.email, now),
    afterwards: afterwards(),
    decoys: decoys(host.twin(settings.model, 'decoys'), settings, host.logger),
    usedTokens: singleUse(host, settings),
    endingAdmins: new SerialQueue(),
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

/** Sign-ins by passkey, alone or as a second step. */

import { invalidCredentials, invalidFormat } from '../../../src/auth/refusals.ts'
import type { Accounts } from '../../../src/auth/setup/method.ts'
import type { ApiRequest } from '../../../src/http/request.ts'
import type { Fields } from '../../../src/ports/records.ts'
import type { Ceremonies, Challenge } from './ceremonies.ts'
import type { Passkeys } from './stored.ts'

/** The sign-ins of one auth router. */
export class SignIns {
  readonly #accounts: Accounts
  readonly #stored: Passkeys
  readonly #ceremonies: Ceremonies

  constructor(accounts: Accounts, stored: Passkeys, ceremonies: Ceremonies) {
    this.#accounts = accounts
    this.#stored = stored
    this.#ceremonies = ceremonies
  }

  /**
   * Signs in by a passkey. Every failure is one 401, and none counts as a guess, because there is nothing to guess. With `own`,
   * it may be of that account alone.
   */
  async respond(
    { ticket, credential, passkey = credential }: Fields,
    request: ApiRequest,
    own?: string,
  ): Promise<Response> {
    checkTyped(ticket, passkey)
    const challenge = await this.#ceremonies.challengeIn(ticket, 'sign-in')
    const user = await this.accountOf(passkey, challenge, request, own)
    if (user) return this.#accounts.signIn(user, request, { isStrong: true, own })
    this.#accounts.report(request, 'sign-in-failed')
    throw invalidCredentials()
  }

  /** The account of a right assertion, which is noted as a use of the passkey; undefined for any other. */
  async accountOf(
    credential: unknown,
    challenge: Challenge | undefined,
    request: ApiRequest,
    own: string | undefined,
  ): Promise<Fields | undefined> {
    const passkey = await this.#stored.byCredential(credential)
    // An unknown key takes as long as one that somebody has.
    const user = await this.#accounts.byId(passkey?.owner ?? this.#accounts.newId())
    const asserted = challenge && (await this.#ceremonies.asserted(credential, challenge, passkey))
    if (!user || !asserted || !passkey || !this.#stored.isLive(passkey, user)) return undefined
    if ((own !== undefined && own !== passkey.owner) || this.#accounts.isDisabled(user)) {
      return undefined
    }
    if (await this.#stored.use(passkey, asserted)) return user
    this.#accounts.report(request, 'passkey-cloned', passkey.owner)
    return undefined
  }
}

/** Throws a 400 for a ticket or a credential of another type. */
export function checkTyped(ticket: unknown, credential: unknown): asserts ticket is string {
  const isObject = typeof credential === 'object' && credential !== null
  if (typeof ticket !== 'string' || !isObject || Array.isArray(credential)) throw invalidFormat()
}

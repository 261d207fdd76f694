/** The two ceremonies of WebAuthn: challenges in sealed tickets, and what is asked of the responses. */

import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import type { Accounts } from '../../../src/auth/setup/method.ts'
import { base64url, bytesIn } from '../../../src/http/base64url.ts'
import type { ApiRequest } from '../../../src/http/request/request.ts'
import { ticketIn } from '../../../src/methods/method-model.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Asserted, NewKey, Passkey, Passkeys } from './stored.ts'

/** Options of `passkeys`. */
export interface PasskeysOptions {
  /** The domain that passkeys belong to, such as `example.com`. Those made for one domain never work for another. */
  readonly rpId: string
  /** The name of your app, as browsers may show it. */
  readonly rpName: string
  /** The origins of your pages, such as `https://example.com`: the domain itself, or below it. */
  readonly origins: readonly string[]
  /**
   * Origins of other domains whose pages may use these passkeys too, such as `https://example.co.uk`. Browsers look for them at
   * `https://<rpId>/.well-known/webauthn`, which the app serves. Some take five domains at most.
   */
  readonly relatedOrigins?: readonly string[]
}

/** EdDSA, ES256 and RS256: every runtime verifies them. Some would offer more, and make keys that others can't verify. */
const ALGORITHMS = [-8, -7, -257]
/** A public key of nobody, whose private one was never kept: what an assertion of an unknown passkey is compared with. */
const DECOY =
  'pQECAyYgASFYIL21ocwp32QxRJhRkZJqlWrOq0FvA5TuC2eqfGwRuzesIlggMny_-DHaOzQNMInu75GOREzaT_9BL6eo2Gm9GmZSCC4'
/** How a device can be reached: `usb`, `smart-card`. There may be others some day. */
const TRANSPORT = /^[a-z-]{1,32}$/
/** Characters of Base64url; devices send less than half. Taking a megabyte of it apart keeps a process busy for seconds. */
const MAX_SAID = 16_384
const LIFETIME_MS = 5 * 60_000
const CHALLENGE_BYTES = 32

export interface Challenge {
  readonly challenge: string | ((challenge: string) => boolean)
  /** The origin that asked for it, if it is one of the options'. */
  readonly origin?: string
}

interface Begun {
  readonly publicKey: object
  readonly ticket: string
}

export class Ceremonies {
  readonly #accounts: Accounts
  readonly #options: PasskeysOptions
  readonly #stored: Passkeys

  constructor(accounts: Accounts, options: PasskeysOptions, stored: Passkeys) {
    this.#accounts = accounts
    this.#options = options
    this.#stored = stored
  }

  /** What the ticket of a registration for `user` is bound to. */
  registering(user: Fields): string {
    return JSON.stringify(['registration', String(user._id), this.#accounts.activeEra(user)])
  }

  async registration(user: Fields, request: ApiRequest): Promise<Begun> {
    const { rpId, rpName } = this.#options
    const known = await this.#stored.of(user)
    const { ticket, challenge } = await this.#ticket(this.registering(user), request)
    const label = this.#accounts.labelOf(user)
    const publicKey = await generateRegistrationOptions({
      ...{ rpID: rpId, rpName, userName: label, userDisplayName: label, challenge },
      userID: this.#handleOf(user),
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: transports as never,
      })),
      timeout: LIFETIME_MS,
    })
    return { publicKey, ticket }
  }

  /** The options for a sign-in; they name no account. With the ticket of a first step, the challenge is bound to that. */
  async authentication(second: string | undefined, request: ApiRequest): Promise<Begun> {
    const { ticket, challenge } =
      second === undefined
        ? await this.#ticket('sign-in', request)
        : {
            ticket: second,
            challenge: new TextEncoder().encode(this.#accounts.seal(asked(second))),
          }
    const publicKey = await generateAuthenticationOptions({
      ...{ rpID: this.#options.rpId, challenge, timeout: LIFETIME_MS },
      userVerification: 'required',
    })
    return { publicKey, ticket }
  }

  /** The challenge for the ticket of a first step, under any secret of the app; that ticket opens one session. */
  challengeFor(ticket: string): Challenge {
    const sealed = (challenge: string) => new TextDecoder().decode(bytes(challenge))
    const { isSealed } = this.#accounts
    return { challenge: (challenge) => isSealed(sealed(challenge), asked(ticket)) }
  }

  /** Whether `credential` is sent with that ticket for the first time. */
  isFirst(ticket: string, credential: unknown): Promise<boolean> {
    const { now, useOnce } = this.#accounts
    return useOnce(`${ticket} ${JSON.stringify(credential)}`, now() + LIFETIME_MS)
  }

  /** The challenge in a ticket for `ceremony`, used up; undefined if it has expired, was used, or is none. */
  async challengeIn(ticket: string, ceremony: string): Promise<Challenge | undefined> {
    const given = await ticketIn<Challenge>(this.#accounts, ticket, ceremony)
    return given && (await this.#accounts.useOnce(ticket, given.until)) ? given : undefined
  }

  async registered(credential: unknown, given: Challenge): Promise<NewKey | undefined> {
    if (isLong(credential, 'attestationObject')) return undefined
    try {
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: credential as never,
        ...this.#expected(given),
        supportedAlgorithmIDs: ALGORITHMS,
      })
      if (!verified || !registrationInfo) return undefined
      const { credential: key, credentialBackedUp: synced } = registrationInfo
      const { id: credentialId, publicKey, counter, transports: sent = [] } = key
      // Nothing vouches for them.
      const transports = sent.filter((one) => typeof one === 'string' && TRANSPORT.test(one))
      return { credentialId, publicKey: base64url(publicKey), counter, synced, transports }
    } catch {
      // The library throws for whatever does not fit. Nothing here asks the store or a server.
      return undefined
    }
  }

  /** The account of a right assertion, which is noted as a use of the passkey; undefined for any other. */
  async accountOf(
    credential: unknown,
    given: Challenge | undefined,
    request: ApiRequest,
    own: string | undefined,
  ): Promise<Fields | undefined> {
    const passkey = await this.#stored.byCredential(credential)
    // An unknown key takes as long as one that somebody has.
    const user = await this.#accounts.byId(passkey?.owner ?? this.#accounts.newId())
    const asserted = given && (await this.#asserted(credential, given, passkey))
    if (!user || !asserted || !passkey || !this.#stored.isLive(passkey, user)) return undefined
    if ((own !== undefined && own !== passkey.owner) || this.#accounts.isDisabled(user)) {
      return undefined
    }
    if (await this.#stored.use(passkey, asserted)) return user
    this.#accounts.report(request, 'passkey-cloned', passkey.owner)
    return undefined
  }

  /** What a right assertion by `passkey` says; undefined for any other. */
  async #asserted(
    credential: unknown,
    given: Challenge,
    passkey: Passkey | undefined,
  ): Promise<Asserted | undefined> {
    if (isLong(credential, 'authenticatorData')) return undefined
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: credential as never,
        ...this.#expected(given),
        credential: {
          id: passkey?.credentialId ?? String((credential as { readonly id?: unknown } | null)?.id),
          publicKey: bytes(passkey?.publicKey ?? DECOY),
          // The count is compared where it is stored, in one step.
          counter: 0,
        },
      })
      const { newCounter: counter, credentialBackedUp: synced } = authenticationInfo
      return verified && passkey ? { counter, synced } : undefined
    } catch {
      return undefined
    }
  }

  #expected({ challenge, origin }: Challenge) {
    const { rpId, origins } = this.#options
    return {
      expectedChallenge: challenge,
      expectedOrigin: origin ?? [...origins],
      expectedRPID: rpId,
      requireUserVerification: true,
    }
  }

  async #ticket(ceremony: string, request: ApiRequest) {
    const challenge = crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES))
    const sent = request.headers.get('origin') ?? ''
    const origin = this.#options.origins.includes(sent) ? sent : undefined
    const until = this.#accounts.now() + LIFETIME_MS
    const text = JSON.stringify({ challenge: base64url(challenge), origin, until })
    return { ticket: await this.#accounts.encrypt(text, ceremony), challenge }
  }

  /** What authenticators keep of the user: nothing that tells who it is, and the same for all passkeys of an account. */
  #handleOf(user: Fields): Uint8Array<ArrayBuffer> {
    const parts = ['handle', String(user._id), this.#accounts.era(user)]
    return bytes(this.#accounts.seal(JSON.stringify(parts)).split('.')[1] ?? '')
  }
}

function asked(ticket: string): string {
  return JSON.stringify(['challenge', ticket])
}

/** Whether what a device says there is more than any does. */
function isLong(credential: unknown, part: string): boolean {
  const { response } = credential as { readonly response?: Fields | null }
  const said = response?.[part]
  return typeof said === 'string' && said.length > MAX_SAID
}

function bytes(encoded: string): Uint8Array<ArrayBuffer> {
  return bytesIn(encoded) ?? new Uint8Array()
}

/**
 * The way of a sign-in: to the provider, back from it, and to a session. What has to be remembered meanwhile is sealed: the
 * ceremony in a cookie of the browser that began, the person in the code that the page gets.
 */

import { AuthorizationResponseError, calculatePKCECodeChallenge } from 'oauth4webapi'
import * as refuse from '../../../src/auth/refusals.ts'
import type { Accounts } from '../../../src/auth/setup/method.ts'
import { base64url } from '../../../src/http/base64url.ts'
import { badRequest, HttpError } from '../../../src/http/errors/errors.ts'
import { causeOf, outageIn } from '../../../src/http/errors/outages.ts'
import { type ApiRequest, basePathOf } from '../../../src/http/request/request.ts'
import { emptyResponse } from '../../../src/http/response/respond.ts'
import { ticketIn } from '../../../src/methods/method-model.ts'
import { idsOf } from '../../../src/ports/services/logger.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import { Links } from './links.ts'
import type { Ceremony, OpenIdProvider, Person } from './provider.ts'

/** What a code stands for. */
interface Brought {
  readonly id: string
  readonly provider: string
  readonly person: Person
  readonly challenge?: string | undefined
  /** Epoch milliseconds. */
  readonly until: number
}

const CEREMONY_MS = 15 * 60_000
const CODE_MS = 60_000
const RANDOM_BYTES = 32
const MARK = '__Host-oidc-'
const MARK_LENGTH = 8
/** A browser that begins again and again must not come to send more cookies than servers take. */
const MAX_BEGUN = 8

export const unknownPlace = (): HttpError =>
  badRequest('unknown-return', "'returnTo' must be one of the pages that this app returns to.")

/** The flow of one auth router, for all of its providers. */
export class Flow {
  readonly providers: Map<string, OpenIdProvider> = new Map()
  readonly links: Links
  readonly #accounts: Accounts

  constructor(accounts: Accounts) {
    this.#accounts = accounts
    this.links = new Links(accounts)
  }

  opens(user: Fields): Promise<boolean> {
    const issuers = [...this.providers.values()].map(({ options }) => options.issuer)
    return this.links.opens(user, issuers)
  }

  async begin(request: ApiRequest): Promise<Response> {
    const provider = this.#provider(request)
    const { options } = provider
    const { returnTo, challenge } = request.query
    if (typeof returnTo !== 'string' || !options.returnTo.includes(returnTo)) throw unknownPlace()
    if (challenge !== undefined && !isChallenge(challenge)) throw refuse.invalidFormat()
    const ceremony: Ceremony = {
      ...{ state: random(), nonce: random(), verifier: random(), returnTo },
      redirectUri: options.redirectUri ?? this.#callback(request, options.name),
      ...(challenge !== undefined && { challenge }),
      until: this.#accounts.now() + CEREMONY_MS,
    }
    const destination = await provider.destination(ceremony)
    const sealed = await this.#accounts.encrypt(JSON.stringify(ceremony), boundTo(options.name))
    // Browsers send the oldest first.
    const left = cookiesOf(request).slice(0, 1 - MAX_BEGUN)
    const ended = left.map((one) => cookie(one.slice(0, one.indexOf('=')), '', 0))
    const begun = cookie(cookieName(ceremony.state), sealed, CEREMONY_MS / 1000)
    return redirect(destination, begun, ...ended)
  }

  /** Takes the provider's answer, and sends the browser back to the app. */
  async finish(request: ApiRequest): Promise<Response> {
    const provider = this.#provider(request)
    const { name } = provider.options
    const { searchParams } = new URL(request.url)
    const ceremony = await this.#ceremonyIn(request, name, searchParams.get('state') ?? '')
    // Nobody has begun it here: where to go back to is not known, and the code is sent nowhere.
    if (!ceremony) throw refuse.invalidTicket()
    const { returnTo, state, until, challenge } = ceremony
    const back = (outcome: Readonly<Record<string, string>>) =>
      redirect(`${returnTo}#${new URLSearchParams(outcome)}`, cookie(cookieName(state), '', 0))
    try {
      if (!(await this.#accounts.useOnce(state, until))) throw new Error('it was answered before')
      const person = await provider.person(searchParams, ceremony)
      const end = this.#accounts.now() + CODE_MS
      const brought: Brought = { id: random(), provider: name, person, challenge, until: end }
      return back({ code: await this.#accounts.encrypt(JSON.stringify(brought), 'code') })
    } catch (error) {
      const word = wordFor(error)
      if (word !== 'access_denied') {
        const told = { ...idsOf(request), error: causeOf(error) }
        this.#accounts.logger.warn(`oidc: a sign-in at '${name}' failed`, told)
        this.#accounts.report(request, 'sign-in-failed')
      }
      return back({ error: word })
    }
  }

  /** Signs in by a code. `own` is the id of the only account that it may be. */
  async respond(body: Fields, request: ApiRequest, own?: string): Promise<Response> {
    const { code, verifier } = body
    if (typeof code !== 'string') throw refuse.invalidFormat()
    if (verifier !== undefined && typeof verifier !== 'string') throw refuse.invalidFormat()
    const brought = await this.#broughtBy(code, verifier)
    const provider = brought && this.providers.get(brought.provider)
    const refused = () => {
      this.#accounts.report(request, 'sign-in-failed')
      return refuse.invalidCredentials()
    }
    if (!brought || !provider) throw refused()
    const { name, issuer } = provider.options
    const arrival = { provider: name, issuer, person: brought.person, body, request }
    const user =
      own === undefined ? await this.links.accountOf(arrival) : await this.links.linked(arrival)
    if (!user) throw refused()
    return this.#accounts.signIn(user, request, { own })
  }

  #provider({ params }: ApiRequest): OpenIdProvider {
    const { name = '' } = params
    const provider = this.providers.get(name)
    if (!provider) throw refuse.providerNotEnabled(name)
    return provider
  }

  /** The address of the callback, as the provider has to know it. */
  #callback(request: ApiRequest, name: string): string {
    const { path } = this.#accounts
    const place = new URL(request.url)
    // A proxy that ends TLS says so. Whoever lies sends themselves to what no provider has registered.
    place.protocol = request.headers.get('x-forwarded-proto')?.split(',', 1)[0] ?? ''
    const { origin, pathname } = place
    const partsOf = (text: string) => text.split('/').filter(Boolean)
    const mount = partsOf(pathname).slice(0, -partsOf(path('beginOidc')).length)
    const root = [`${origin}${basePathOf(request)}`, ...mount].join('/')
    return `${root}${path('finishOidc').replace(':name', name)}`
  }

  /** The ceremony that this browser has begun at `provider`. */
  async #ceremonyIn(
    request: ApiRequest,
    provider: string,
    state: string,
  ): Promise<Ceremony | undefined> {
    const start = `${cookieName(state)}=`
    const found = cookiesOf(request).find((one) => one.startsWith(start))
    const sealed = found?.slice(start.length)
    const ceremony = await ticketIn<Ceremony>(this.#accounts, sealed, boundTo(provider))
    return ceremony?.state === state ? ceremony : undefined
  }

  async #broughtBy(code: string, verifier: string | undefined): Promise<Brought | undefined> {
    const brought = await ticketIn<Brought>(this.#accounts, code, 'code')
    if (!brought) return undefined
    const { challenge, id, until } = brought
    const shown = verifier === undefined ? undefined : await calculatePKCECodeChallenge(verifier)
    // Nor is one good without a challenge for a page that has a verifier (RFC 9700 §2.1.1).
    if (shown !== challenge) return undefined
    return (await this.#accounts.useOnce(id, until)) ? brought : undefined
  }
}

/** What the page gets: the provider's own word if it has one, or whether another try makes sense. */
function wordFor(error: unknown): string {
  const failure = outageIn(error) ?? error
  if (failure instanceof HttpError && failure.status === 503) return 'temporarily_unavailable'
  const isTold = error instanceof AuthorizationResponseError && /^[a-z_]{1,64}$/.test(error.error)
  return isTold ? error.error : 'sign_in_failed'
}

function redirect(location: string, ...cookies: readonly string[]): Response {
  const response = emptyResponse(302, { Location: location })
  for (const set of cookies) response.headers.append('Set-Cookie', set)
  return response
}

/** The cookies of sign-ins that this browser has begun, with their values. */
function cookiesOf({ headers }: ApiRequest): readonly string[] {
  const all = headers.get('cookie')?.split(/; */) ?? []
  return all.filter((one) => one.startsWith(MARK))
}

/** A cookie that this origin alone sets, and that comes back with the answer, which is another site's link. */
function cookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
}

/** Each sign-in has its own, so that two tabs don't disturb each other. */
function cookieName(state: string): string {
  return `${MARK}${state.slice(0, MARK_LENGTH)}`
}

function boundTo(provider: string): string {
  return JSON.stringify(['ceremony', provider])
}

/** The SHA-256 of something, in Base64url. */
function isChallenge(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{43}$/.test(text)
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))
}

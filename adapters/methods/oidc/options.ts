/** The options of `oidc`, checked at start-up. */

import { isSafe } from '../../../src/auth/providers/provider.ts'
import {
  checkOptions,
  type Fail,
  failAs,
  isNames,
  wholeNumber,
} from '../../../src/model/option-rules.ts'

/** Options of `oidc`. */
export interface OidcOptions {
  /** What your routes and events call the provider: letters, digits, `-` and `_`, such as `company`. */
  readonly name: string
  /**
   * The provider's issuer URL, as its own description has it, or `https://login.microsoftonline.com/common/v2.0` for all tenants
   * of Microsoft Entra. It must begin with `https:`; `http:` works on this machine.
   */
  readonly issuer: string
  /** The id that the provider has given your app. */
  readonly clientId: string
  /** The secret that goes with it, for apps that have one. It never leaves the server. */
  readonly clientSecret?: string
  /** What to ask for besides `openid`. Default `['email', 'profile']`. */
  readonly scopes?: readonly string[]
  /**
   * The pages of your app that people may come back to. Clients name one of them, letter by letter. URLs, paths, or the address
   * of a native app, such as `com.example.app:/signed-in`.
   */
  readonly returnTo: readonly string[]
  /**
   * Where the provider sends people, as it is registered there. Default: the origin of the request and the path of the
   * callback, such as `/auth/login/oidc/<name>/callback`. Behind a proxy, let that pass `Host` on and set `X-Forwarded-Proto`,
   * or set this.
   */
  readonly redirectUri?: string
  /**
   * The most seconds since the person signed in at the provider, which asks again if it was longer ago (`max_age`). The ID token
   * has to say when it was (`auth_time`). Default: the provider decides.
   */
  readonly maxAge?: number
  /** More parameters of the address that browsers are sent to, such as `{ prompt: 'select_account' }`. */
  readonly parameters?: Readonly<Record<string, string>>
}

export const fail: Fail = failAs('oidc')

export function checkOidcOptions(options: OidcOptions): void {
  checkOptions(options, RULES, fail)
  const needed = ['name', 'issuer', 'clientId', 'returnTo'] as const
  const missing = needed.find((option) => options[option] === undefined)
  if (missing !== undefined) fail(`it needs '${missing}'`)
  const { name, issuer, redirectUri } = options
  checkUrl(name, 'issuer', issuer)
  if (redirectUri !== undefined) checkUrl(name, 'redirectUri', redirectUri)
}

const text = {
  must: 'be a string',
  test: (value: unknown) => typeof value === 'string' && value.trim() !== '',
}

/** What `oidc` sets itself, or takes no answer to. */
const OWN =
  /^(client_id|code_challenge(_method)?|max_age|nonce|redirect_uri|request(_uri)?|response_(mode|type)|scope|state)$/

const RULES = {
  name: {
    must: "have letters, digits, '-' and '_' only",
    test: (value: unknown) => typeof value === 'string' && /^[\w-]{1,64}$/.test(value),
  },
  issuer: text,
  clientId: text,
  clientSecret: text,
  redirectUri: text,
  scopes: { must: 'be a list of strings', test: isNames },
  maxAge: wholeNumber('be seconds, and at least 1', 1),
  parameters: {
    must: "have strings, and none of what 'oidc' sets itself, such as state",
    test: (value: unknown) =>
      typeof value === 'object' &&
      Object.entries({ ...value }).every(([name, one]) => isNames([one]) && !OWN.test(name)),
  },
  returnTo: {
    must: 'list pages of your app, such as https://example.com/signed-in, without a part after #',
    test: (value: unknown) => isNames(value) && value.length > 0 && value.every(isPlace),
  },
}

/** A page: a path, a URL of the web, or one of a native app, whose scheme is a domain the other way round (RFC 8252 §7.1). */
function isPlace(place: string): boolean {
  // Printable ASCII, as in a header.
  if (!/^[!"$-[\]-~]+$/.test(place)) return false
  if (/^\/(?!\/)/.test(place)) return true
  if (!URL.canParse(place)) return false
  const { protocol } = new URL(place)
  return protocol.includes('.') || isSafe(place)
}

function checkUrl(name: string, option: string, url: string): void {
  if (!isSafe(url)) {
    fail(`'${option}' of '${name}' must be a URL that begins with 'https:' (got '${url}')`)
  }
}

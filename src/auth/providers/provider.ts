/** What the social providers have in common. */

import { HttpError } from '../../http/errors/errors.ts'
import { isLoopback } from '../../http/host.ts'
import { didYouMean } from '../../model/suggest.ts'
import { withTimeout } from '../../ports/promises/with-timeout.ts'
import type { Fields } from '../../ports/store/records.ts'
import { either, fail, group, needsPart } from '../option-checks.ts'
import * as refuse from '../refusals.ts'
import { hookFailed } from '../request-info.ts'
import { DEADLINE_MS } from './ask.ts'
import type { SingleUse } from './used-tokens.ts'

/** What a provider says about the person who signs in. */
export interface Profile {
  /**
   * The provider's own id of the account: 1 to 255 characters without control characters, or a positive integer up to
   * 2^53 - 1. Parse larger numbers as strings: two that JavaScript rounds alike would be one account.
   */
  readonly id: string | number
  /** The person's e-mail address. */
  readonly email?: string
  /** Whether the provider itself vouches for the address; nothing else links accounts. */
  readonly emailVerified?: boolean
  /** The person's name, stored on a new account if the model has the field `name`. */
  readonly name?: string
}

/** A profile whose id is known to be one person's, and the token, if it may sign in only once. */
export interface Verified extends Profile {
  readonly id: ProviderId
  readonly once?: SingleUse
}

/** Options that every provider has. */
export interface ProviderOptions {
  /** False leaves the provider out. Default true. */
  readonly enabled?: boolean
  /** The field that stores the provider's id of the account. Default `<provider>Id`. */
  readonly idField?: string
  /** URLs to use instead of the provider's own, for tests and gateways: by name, or one origin for all of them. */
  readonly endpoints?: string | Readonly<Record<string, string>>
}

/** Google and Apple: id tokens. */
export interface IdTokenOptions extends ProviderOptions {
  /** The audience that tokens must have; a list if your app runs on several platforms. */
  readonly clientId: string | readonly string[]
  /**
   * Where the provider's keys are. Default: the provider's URL. It must begin with `https:`; `http:` is allowed only
   * for this machine, for tests.
   */
  readonly jwksUrl?: string
  /**
   * How the body's `nonce` and the token's claim are compared. `'checked'`, the default: if either is there, both must
   * be, and match (the claim may be the SHA-256 of the body's in hex, as with Apple's SDK). `'required'`: both must be
   * there, and match. `'hashed'`: both must be there, and the claim must be the SHA-256 of the body's, so a stolen
   * token alone is of no use. `'ignored'`: for clients whose SDK sets a nonce that they cannot learn.
   */
  readonly nonce?: 'checked' | 'required' | 'hashed' | 'ignored'
}

/** Facebook: access tokens. */
export interface FacebookOptions extends ProviderOptions {
  /** The app's id at Facebook. */
  readonly appId: string
  /** The app's secret at Facebook; it never leaves the server. */
  readonly appSecret: string
}

/** GitHub: access tokens, or codes of the web flow. */
export interface GithubOptions extends ProviderOptions {
  /** The app's client id at GitHub. */
  readonly clientId: string
  /** The app's client secret at GitHub; it never leaves the server. */
  readonly clientSecret: string
  /** The redirect URI of the web flow, if the client sent one. */
  readonly redirectUri?: string
}

/** A provider of your own. */
export interface CustomOptions extends ProviderOptions {
  /** Returns the profile for a genuine credential. Throw, or return nothing, to refuse the sign-in. */
  verify(body: Fields, settings: CustomOptions): Profile | undefined | Promise<Profile | undefined>
}

/** Social sign-in: each provider's options by its name. Any other name is a provider of your own. */
export interface SocialOptions {
  readonly google?: IdTokenOptions
  readonly apple?: IdTokenOptions
  readonly facebook?: FacebookOptions
  readonly github?: GithubOptions
  /**
   * What happens to a password that was set on an account with an unproven mailbox, when the owner of the mailbox signs
   * in through a provider. `'reset'`, the default: it is dropped, with all sessions, the links to other providers, and
   * the phone number or second address for codes. `'keep'`: it stays. `'refuse'`: the sign-in is refused.
   */
  readonly linking?: 'reset' | 'keep' | 'refuse'
  readonly [name: string]:
    | CustomOptions
    | IdTokenOptions
    | FacebookOptions
    | GithubOptions
    | 'reset'
    | 'keep'
    | 'refuse'
    | undefined
}

/** What a provider takes, and what it makes of it. */
export interface Checks {
  /** The members of the body that may hold the credential; one of them is needed. */
  readonly credentials: readonly string[]
  /** Further members of the body that must be strings, if given. */
  readonly companions?: readonly string[]
  /** Whether each of its tokens may sign in only once. */
  readonly singleUse?: boolean
  /** The profile for a credential. Throws a 401 or 503. */
  profile(body: Fields, now: () => number): Promise<Verified>
}

/** A provider as the social route uses it. */
export interface Provider extends Checks {
  readonly name: string
  /** The stored field of the provider's id. */
  readonly idField: string
}

/** Makes the checks of the provider called `name` of its settings. */
export type Maker = (name: string, settings: never) => Checks

declare const checked: unique symbol

/**
 * The id of a person at a provider: what a sign-in finds their account by. A value that another person's id might turn
 * into as well, such as a number that was rounded, must not become one.
 */
export type ProviderId = string & { readonly [checked]: true }

/** Why a provider's id was not taken; told in the log, not to the client. */
export class UnusableId extends Error {
  override readonly name: string = 'UnusableId'
}

/** What a provider says of a person, without what is of another type than it should be. */
export function verified(
  id: unknown,
  { email, name }: { readonly email?: unknown; readonly name?: unknown },
  emailVerified: boolean,
): Verified {
  return {
    id: providerId(id),
    ...(typeof email === 'string' && { email }),
    emailVerified,
    ...(typeof name === 'string' && { name }),
  }
}

export const MAX_ID_LENGTH = 255
/**
 * Control characters, and halves of characters, which a database stores as one and the same; blanks alone; and what `String(id)`
 * makes of an id that is missing, or is no text.
 */
const UNUSABLE = /[\p{Cc}\p{Cs}]|^(?:\s*|undefined|null|NaN|-?Infinity|true|false|\[object \w+\])$/u

/** `id` as text: a string, or a whole number that JavaScript has not rounded. Otherwise throws a 401. */
export function providerId(id: unknown): ProviderId {
  const text = typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : id
  const isUsable = typeof text === 'string' && text.length <= MAX_ID_LENGTH && !UNUSABLE.test(text)
  if (isUsable) return text as ProviderId
  const kind = typeof id === 'number' ? 'a number that may have been rounded' : typeof id
  const why = `the provider's id of the user is ${id === null ? 'null' : kind}, or not 1 to ${MAX_ID_LENGTH} characters without control characters, or what String() makes of a missing id. Return it as a string, as the provider sent it`
  throw refuse.providerRefused(new UnusableId(why))
}

export function requireSetting(provider: string, setting: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  return fail(`'social.${provider}' needs '${setting}'`)
}

/** The URLs of a provider by name: its own, or those of the `endpoints` setting. */
export function endpointsOf<Name extends string>(
  provider: string,
  settings: ProviderOptions,
  own: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const { endpoints } = settings
  if (endpoints === undefined) return own
  if (typeof endpoints === 'string') {
    const moved = Object.entries<string>(own).map(([name, url]) => {
      const { pathname, search } = new URL(url)
      return [name, `${origin(provider, endpoints)}${pathname}${search}`]
    })
    return Object.fromEntries(moved) as Record<Name, string>
  }
  group(`social.${provider}.endpoints`, endpoints, Object.keys(own))
  for (const url of Object.values(endpoints)) origin(provider, url)
  return { ...own, ...endpoints }
}

function origin(provider: string, url: string): string {
  return checkedUrl(`social.${provider}.endpoints`, url).replace(/(^|[^/])\/+$/, '$1')
}

/** A setting that must be a URL: it receives secrets, and its response decides who signs in. */
export function checkedUrl(option: string, url: string): string {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    return fail(`'${option}' must be a URL (got '${url}')`)
  }
  return isSafe(url) ? url : fail(`'${option}' must begin with 'https:' (got '${url}')`)
}

export function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(url))
}

const COMMON = ['enabled', 'idField', 'endpoints']
const ID_TOKENS = [...COMMON, 'clientId', 'jwksUrl', 'nonce']
/** The providers that have a part each, and their options; all other names are providers of the app. */
const OURS: ReadonlyMap<string, readonly string[]> = new Map([
  ['google', ID_TOKENS],
  ['apple', ID_TOKENS],
  ['facebook', [...COMMON, 'appId', 'appSecret']],
  ['github', [...COMMON, 'clientId', 'clientSecret', 'redirectUri']],
])

type Names = Readonly<Record<string, string | undefined>> | undefined

/** The enabled providers by name. Throws a start-up error if one lacks its credentials, or its part among `makers`. */
export function enabledProviders(
  social: SocialOptions | undefined,
  names: Names,
  makers: ReadonlyMap<string, Maker>,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>()
  for (const [name, settings] of entriesOf(social)) {
    if (settings.enabled === false) continue
    const isOurs = OURS.has(name)
    const make =
      makers.get(isOurs ? `social.${name}` : 'social') ??
      needsPart(`social.${name}`, isOurs ? name : 'ownProviders')
    const idField = idFieldOf(name, settings, names)
    providers.set(name, { name, idField, ...make(name, settings as never) })
  }
  const fields = [...providers.values()].map(({ idField }) => idField)
  if (new Set(fields).size < fields.length) fail(`'social' gives two providers the same 'idField'`)
  return providers
}

/** The fields of all providers, also of those that are switched off: they may be switched on again. */
export function idFieldsOf(social: SocialOptions | undefined, names: Names): readonly string[] {
  return entriesOf(social).map(([name, settings]) => idFieldOf(name, settings, names))
}

function entriesOf(
  social: SocialOptions | undefined,
): readonly (readonly [string, ProviderOptions])[] {
  const { linking: _, ...given } = group('social', social)
  return Object.entries<unknown>(given).flatMap(([name, value]) => {
    if (value === undefined) return []
    const option = `social.${name}`
    // A provider of the app's own may have options that its `verify` reads.
    const settings = group(option, value as ProviderOptions, OURS.get(name))
    either(true)(`${option}.enabled`, settings.enabled)
    return [[name, settings] as const]
  })
}

function idFieldOf(name: string, settings: ProviderOptions, names: Names): string {
  const usual = `${name}Id`
  const { idField } = settings
  if (idField !== undefined && (typeof idField !== 'string' || idField === '')) {
    fail(`'social.${name}.idField' must be the name of a field`)
  }
  return idField ?? names?.[usual] ?? usual
}

/** Any other name, with `verify`. If it throws, the sign-in is refused; an HttpError says how. */
export function customProvider(name: string, settings: CustomOptions): Checks {
  if (typeof settings.verify !== 'function') {
    fail(`'social.${name}' needs 'verify', a function.${didYouMean(name, [...OURS.keys()])}`)
  }
  return {
    credentials: [],
    async profile(body) {
      const profile = await withTimeout(
        DEADLINE_MS,
        async () => settings.verify(body, settings),
        () => refuse.providerUnreachable(),
      ).catch((error: unknown) => {
        if (error instanceof HttpError) hookFailed(error)
        throw refuse.providerRefused()
      })
      if (!profile) throw refuse.providerRefused()
      return verified(profile.id, profile, profile.emailVerified === true)
    },
  }
}

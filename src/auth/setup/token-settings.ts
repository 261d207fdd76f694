/** The options `token` and `refresh`, resolved; the latter with its environment variables. */

import {
  duration,
  type Environment,
  either,
  fail,
  flagIn,
  settingsOf,
  string,
  strings,
  whole,
} from '../option-checks.ts'
import type { RefreshOptions, TokenOptions } from './options.ts'

export type Secrets = readonly [string, ...string[]]

/** Settings of access tokens, and the secrets for everything that is signed. */
export interface TokenSettings {
  /** The first signs, all verify. */
  readonly secret: Secrets
  /** Seconds. */
  readonly expiresIn: number
  readonly issuer: string | undefined
  readonly audience: readonly string[] | undefined
  readonly invalidateOnPasswordChange: boolean
}

const MIN_LENGTH = 32
const MIN_CHARACTERS = 8
const MAX_WORD_LENGTH = 8

export function tokenSettings(options: TokenOptions): TokenSettings {
  return settingsOf('token', options, {
    secret: secretsOf,
    expiresIn: (name, value) => Math.ceil(duration(name, value, '15m')),
    issuer: string,
    audience(name, value) {
      const list = value === undefined ? undefined : strings(name, [value].flat())
      return list?.length === 0 ? fail(`'${name}' must name at least one`) : list
    },
    invalidateOnPasswordChange: either(true),
  })
}

export function secretsOf(option: string, value: unknown): Secrets {
  if (!Array.isArray(value)) return [checkedSecret(option, value)]
  const [first, ...others] = value.map((secret, index) =>
    checkedSecret(`${option}[${index}]`, secret),
  )
  if (first === undefined) fail(`'${option}' must name at least one secret`)
  if (new Set(value).size < value.length) fail(`'${option}' names one secret twice`)
  return [first, ...others]
}

function checkedSecret(option: string, secret: unknown): string {
  if (typeof secret !== 'string' || secret.length < MIN_LENGTH) {
    const why = secret === undefined ? '. It is undefined: is its environment variable set?' : ''
    return fail(`'${option}' must have at least ${MIN_LENGTH} characters${why}`)
  }
  return secret
}

/** A start-up warning about a secret of the option `named` that is long enough but easy to guess. */
export function secretAdvice(secrets: Secrets, named = 'token.secret'): string | undefined {
  const at = secrets.findIndex(isWeak)
  if (at === -1) return undefined
  const option = secrets.length > 1 ? `${named}[${at}]` : named
  return `'${option}' is easy to guess: it has fewer than ${MIN_CHARACTERS} different characters, or repeats one word. Use random characters, as 'openssl rand -base64 32' gives them`
}

function isWeak(secret: string): boolean {
  const lengths = Array.from({ length: MAX_WORD_LENGTH }, (_, index) => index + 1)
  const repeatsWord = lengths.some((length) => secret.startsWith(secret.slice(length)))
  return repeatsWord || new Set(secret).size < MIN_CHARACTERS
}

/** With a grace of hours, a stolen token would be as good as its successor. */
const MAX_GRACE_SECONDS = 3600
/** They are in the user's record, which each request reads. */
const MAX_SESSIONS = 100

/** Settings of refresh sessions; durations are in seconds. */
export interface RefreshSettings
  extends Required<Omit<RefreshOptions, 'enabled' | 'expiresIn' | 'maxLifetime'>> {
  readonly expiresIn: number
  readonly maxLifetime: number
}

/** Resolves the option; what it leaves out comes from `env`. Undefined if refresh tokens are off. */
export function refreshSettings(
  options: RefreshOptions | undefined,
  env: Environment,
): RefreshSettings | undefined {
  const { enabled, ...settings } = settingsOf<RefreshSettings & { enabled: boolean }>(
    'refresh',
    options,
    {
      rotate: either(flagIn(env, 'AUTH_REFRESH_ROTATE', true)),
      expiresIn: (name, value) =>
        duration(name, value ?? secondsIn(env.AUTH_REFRESH_EXPIRES_IN), '30d'),
      graceSeconds: whole(10, 0, MAX_GRACE_SECONDS),
      revokeAllOnReuse: either(true),
      maxSessions: whole(5, 1, MAX_SESSIONS),
      maxLifetime: (name, value) =>
        value === undefined ? Number.POSITIVE_INFINITY : duration(name, value, ''),
      enabled: either(flagIn(env, 'AUTH_REFRESH_ENABLED', false)),
    },
  )
  return enabled ? settings : undefined
}

/** Variables are strings: a plain number among them means seconds. */
function secondsIn(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value || undefined
}

/**
 * The `refresh` option and its environment variables, resolved.
 *
 * @module
 */

import { duration, either, flagIn, settingsOf, whole } from '../option-checks.ts'
import type { RefreshOptions } from './options.ts'

/** With a grace of hours, a stolen token would be as good as its successor. */
const MAX_GRACE_SECONDS = 3600
/** They are in the user's record, which each request reads. */
const MAX_SESSIONS = 100

type Environment = Readonly<Record<string, unknown>>

/** Settings of refresh sessions; durations are in seconds. */
export interface RefreshSettings {
  readonly rotate: boolean
  readonly expiresIn: number
  readonly graceSeconds: number
  readonly revokeAllOnReuse: boolean
  readonly maxSessions: number
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

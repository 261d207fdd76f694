/**
 * The `refresh` option and its environment variables, resolved.
 *
 * @module
 */

import { duration, flag, flagIn, group, wholeNumber } from '../option-checks.ts'
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
  const refresh = group('refresh', options, [
    'enabled',
    'rotate',
    'expiresIn',
    'graceSeconds',
    'revokeAllOnReuse',
    'maxSessions',
    'maxLifetime',
  ])
  const settings: RefreshSettings = {
    rotate: flag('refresh.rotate', refresh.rotate, flagIn(env, 'AUTH_REFRESH_ROTATE', true)),
    expiresIn: duration(
      'refresh.expiresIn',
      refresh.expiresIn ?? secondsIn(env.AUTH_REFRESH_EXPIRES_IN),
      '30d',
    ),
    graceSeconds: wholeNumber(
      'refresh.graceSeconds',
      refresh.graceSeconds,
      10,
      0,
      MAX_GRACE_SECONDS,
    ),
    revokeAllOnReuse: flag('refresh.revokeAllOnReuse', refresh.revokeAllOnReuse, true),
    maxSessions: wholeNumber('refresh.maxSessions', refresh.maxSessions, 5, 1, MAX_SESSIONS),
    maxLifetime:
      refresh.maxLifetime === undefined
        ? Number.POSITIVE_INFINITY
        : duration('refresh.maxLifetime', refresh.maxLifetime, ''),
  }
  const fallback = flagIn(env, 'AUTH_REFRESH_ENABLED', false)
  return flag('refresh.enabled', refresh.enabled, fallback) ? settings : undefined
}

/** Variables are strings: a plain number among them means seconds. */
function secondsIn(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value || undefined
}

/** Start-up checks of options: each throws a `TypeError` that starts with `Auth:` and names the option. */

import { booleanFrom, type Fail, failAs, wholeNumber } from '../model/option-rules.ts'
import { whatThereIs } from '../model/suggest.ts'

export type Environment = Readonly<Record<string, unknown>>

/** A positive number of seconds, or a whole number with its unit: `'15m'`, `'7d'`. */
export type Duration = number | `${number}${'s' | 'm' | 'h' | 'd'}`

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds. Stores must be able to order the resulting dates; a hundred years are enough for any session. */
const MAX_SECONDS = 100 * 365 * 86_400

export const fail: Fail = failAs('Auth')

/** Throws a start-up error for an option whose code is not there. */
export function needsPart(option: string, part: string): never {
  return fail(`'${option}' needs the part '${part}' in accountsWith(…), from 'fieldgate/accounts'`)
}

/** `value` as an object that has no other keys than `keys`, if they are given; an absent one is empty. */
export function group<T extends object>(
  option: string,
  value: T | undefined,
  keys?: readonly string[],
): Partial<T> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail(`'${option}' must be an object`)
  }
  for (const key of Object.keys(value)) {
    if (keys?.includes(key) === false)
      fail(`'${option}' has the unknown key '${key}'.${whatThereIs(key, keys)}`)
  }
  return value
}

/** Checks an option, which errors call `name`: the setting, or its default. */
export type Check<T> = (name: string, value: unknown) => T

/** The settings of a group of options, each by its check. Refuses a key that has none. */
export function settingsOf<T extends object>(
  option: string,
  value: object | undefined,
  checks: { readonly [K in keyof T]: Check<T[K]> },
): T {
  const given = group(option, value, Object.keys(checks)) as Readonly<Record<string, unknown>>
  const entries = Object.entries<Check<unknown>>(checks)
  const settings = entries.map(([key, check]) => [key, check(`${option}.${key}`, given[key])])
  return Object.fromEntries(settings) as T
}

/** Checks for a whole number from `least` to `most`. */
export function whole(otherwise: number, least: number, most: number): Check<number> {
  const { test, must } = wholeNumber(`be a whole number, ${least} to ${most}`, least, most)
  return (name, value = otherwise) =>
    test(value) ? (value as number) : fail(`'${name}' must ${must}`)
}

export function duration(option: string, value: unknown, otherwise: string): number {
  const given = value ?? otherwise
  const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(given)) ?? []
  const seconds = digits ? Number(digits) * UNITS[unit as keyof typeof UNITS] : given
  if (typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS) return seconds
  return fail(`'${option}' must be a positive number of seconds, or '15m', '12h', '7d'`)
}

export function either(otherwise: boolean): Check<boolean> {
  return (name, value = otherwise) =>
    typeof value === 'boolean' ? value : fail(`'${name}' must be true or false`)
}

/** A boolean from an environment variable, which is a string. */
export function flagIn(env: Environment, name: string, otherwise: boolean): boolean {
  const value = env[name]
  if (value === undefined || value === '') return otherwise
  return booleanFrom(String(value)) ?? fail(`the environment's ${name} must be 'true' or 'false'`)
}

export function string(option: string, value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' && value !== '' ? value : fail(`'${option}' must be a string`)
}

export function strings(option: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  const isString = (item: unknown) => typeof item === 'string' && item !== ''
  if (Array.isArray(value) && value.every(isString)) return value
  return fail(`'${option}' must be a list of names`)
}

export function callable<T>(option: string, value: T | undefined): T | undefined {
  if (value === undefined || typeof value === 'function') return value
  return fail(`'${option}' must be a function`)
}

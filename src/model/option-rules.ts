/** Start-up checks of options: unknown options and invalid values are refused by name before anything runs. */

import { whatThereIs } from './suggest.ts'

/** What an option's value must be: a test, and the words for the error message. */
export interface Rule {
  readonly test: (value: unknown) => boolean
  readonly must: string
}

/** Throws a start-up error. */
export type Fail = (message: string) => never

/** Throws a `TypeError` that begins with what takes the options. */
export function failAs(where: string): Fail {
  return (message) => {
    throw new TypeError(`${where}: ${message}`)
  }
}

/**
 * Refuses options without a rule and values that fail their rule. An undefined value counts as not given. `where` is the
 * function that takes them, or what throws; `of` comes before their names, where they are those of an option.
 */
export function checkOptions(
  given: object,
  rules: Readonly<Record<string, Rule>>,
  where: string | Fail,
  of = '',
): void {
  const fail: Fail = typeof where === 'string' ? failAs(where) : where
  // Programs in JavaScript may pass anything.
  if (typeof given !== 'object' || given === null) {
    fail(`${of ? `'${of.slice(0, -1)}'` : 'the options'} must be an object`)
  }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(rules, name)) {
      fail(`unknown option '${of}${name}'.${whatThereIs(name, Object.keys(rules))}`)
    }
    const { test, must } = rules[name] as Rule
    if (value !== undefined && !test(value)) fail(`'${of}${name}' must ${must}`)
  }
}

export function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** Whether `value` is a list of strings, e.g. of names. */
export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

export function each<Name extends string>(
  rule: Rule,
  ...names: readonly Name[]
): Record<Name, Rule> {
  return Object.fromEntries(names.map((name) => [name, rule])) as Record<Name, Rule>
}

/** Any value: the code that reads the option checks it. */
export const whatever: Rule = { must: '', test: () => true }

export const flag: Rule = { must: 'be true or false', test: (value) => typeof value === 'boolean' }

export const text: Rule = { must: 'be a string', test: (value) => typeof value === 'string' }

export const callable: Rule = { must: 'be a function', test: isFunction }

export function wholeNumber(must: string, least = 0, most: number = Number.MAX_SAFE_INTEGER): Rule {
  const test = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
  return { must, test }
}

export function matching(must: string, pattern: RegExp): Rule {
  return { must, test: (value) => typeof value === 'string' && pattern.test(value) }
}

export const counting: Rule = {
  must: `have the function increment, as the caches of 'fieldgate/memory', '/redis' and '/upstash' have`,
  test: (value) => isFunction(Object(value).increment),
}

export const natural: Rule = wholeNumber('be a whole number of at least 1', 1)

export function oneOf(...choices: readonly unknown[]): Rule {
  return { must: `be one of ${choices.join(', ')}`, test: (value) => choices.includes(value) }
}

/** The boolean that an environment variable's string means, in any case; undefined for any other string. */
export function booleanFrom(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  if (['true', '1', 'yes', 'on'].includes(lower)) return true
  return ['false', '0', 'no', 'off'].includes(lower) ? false : undefined
}

/** The few assertions that the contracts' checks need, using only web standards. */

import { isSameContent } from '../../src/ports/evaluation/evaluate.ts'

/** Thrown if an adapter breaks a promise. Test runners show `actual` beside `expected`. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
  readonly actual: unknown
  readonly expected: unknown
  constructor(message: string, actual?: unknown, expected?: unknown) {
    super(message)
    this.actual = actual
    this.expected = expected
  }
}

/** Throws unless `value` is truthy. */
export function ok(value: unknown, message = `${shown(value)} should be truthy`): asserts value {
  if (!value) throw new BrokenPromise(message, value, true)
}

/** Throws unless the two are the same value. */
export function equal(actual: unknown, expected: unknown, context?: string): void {
  if (!Object.is(actual, expected)) throw differs(actual, expected, context)
}

/** Throws unless the two have the same content: equal members in any order, equal dates and elements. */
export function deepEqual(actual: unknown, expected: unknown, context?: string): void {
  if (!isSameContent(actual, expected, true)) throw differs(actual, expected, context)
}

/** Throws unless `text` matches. */
export function match(text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw differs(text, pattern, `no match of ${pattern}`)
}

/** How a promise must reject: with an error of a class, with this very error, or with one that passes a check. */
export type Rejection =
  | (abstract new (
      ...args: never[]
    ) => Error)
  | Error
  | ((error: never) => boolean)

/** Throws unless `promise` rejects as `wanted`; without `wanted`, unless it rejects at all. */
export async function rejects(promise: Promise<unknown>, wanted?: Rejection): Promise<void> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  const name = wanted instanceof Error ? wanted.message : wanted?.name || 'an error'
  if ('value' in outcome) {
    throw new BrokenPromise(`should reject with ${name}, not resolve to ${shown(outcome.value)}`)
  }
  const { error } = outcome
  if (!isWanted(error, wanted)) {
    throw new BrokenPromise(`should reject with ${name}, not with ${error}`, error, wanted)
  }
}

function isWanted(error: unknown, wanted: Rejection | undefined): boolean {
  if (wanted === undefined || error === wanted) return true
  if (typeof wanted !== 'function') return false
  if (isClass(wanted)) return error instanceof wanted
  return (wanted as (error: unknown) => boolean)(error)
}

function isClass(value: NonNullable<Rejection>): value is abstract new (...args: never[]) => Error {
  return value === Error || (value as { prototype?: unknown }).prototype instanceof Error
}

function differs(actual: unknown, expected: unknown, context?: string): BrokenPromise {
  const message = `expected ${shown(expected)}, got ${shown(actual)}`
  return new BrokenPromise(context ? `${context}: ${message}` : message, actual, expected)
}

/** The most characters of a value in a message; the rest is in `actual` and `expected`. */
const MAX_TEXT_LENGTH = 2000

function shown(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text
}

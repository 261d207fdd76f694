/**
 * The id of a person at a provider: what a sign-in finds their account by. A value that another person's id might turn
 * into as well, such as a number that was rounded, must not become one.
 *
 * @module
 */

import { providerRefused } from '../refusals.ts'

declare const checked: unique symbol

/** An id that belongs to one person alone. */
export type ProviderId = string & { readonly [checked]: true }

/** Why a provider's id was not taken; told in the log, not to the client. */
export class UnusableId extends Error {
  override readonly name: string = 'UnusableId'
}

const MAX_LENGTH = 255
/** Control characters, and halves of characters, which a database stores as one and the same. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u

/** `id` as text: a string, or a whole number that JavaScript has not rounded. Otherwise throws a 401. */
export function providerId(id: unknown): ProviderId {
  const text = typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : id
  const isUsable =
    typeof text === 'string' && text !== '' && text.length <= MAX_LENGTH && !UNUSABLE.test(text)
  if (!isUsable) throw providerRefused(new UnusableId(unusable(id)))
  return text as ProviderId
}

function unusable(id: unknown): string {
  const kind = typeof id === 'number' ? 'a number that may have been rounded' : typeof id
  return `the provider's id of the user is ${id === null ? 'null' : kind}, or not 1 to ${MAX_LENGTH} characters without control characters. Return it as a string, as the provider sent it`
}

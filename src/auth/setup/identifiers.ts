/**
 * Identifiers: turns the differently typed names of one account into the same string.
 *
 * @module
 */

import { fold } from '../../ports/fold.ts'
import { atOnce } from '../../ports/synchronous.ts'
import { callable, fail } from '../option-checks.ts'
import { isStoredName, type StoredNames } from './field-names.ts'

/**
 * An identifier in the options: a field, or a field with your own normalizer, which returns undefined for an invalid
 * value.
 */
export type IdentifierOption =
  | string
  | { readonly field: string; normalize?(text: string): string | undefined }

/** The kind of an identifier: an e-mail address, a phone number, or any other name. */
export type IdentifierKind = 'email' | 'phone' | 'name'

/** An identifier, resolved. */
export interface Identifier {
  /** The name that clients may use besides the stored one, e.g. `email` if the field is named `mail`. */
  readonly name: string
  /** The stored field. */
  readonly field: string
  readonly kind: IdentifierKind
  /** The normalized form of `text`, or undefined if it is not of this kind. */
  normalize(text: string): string | undefined
}

/** The kind of the identifier in the stored field `field`. */
export function kindOf(field: string, names: StoredNames): IdentifierKind {
  if (field === names.email) return 'email'
  return field === names.phone ? 'phone' : 'name'
}

/** The field that stores the identifier named `name`. */
export function storedField(name: string, names: StoredNames): string {
  return isStoredName(name) ? names[name] : name
}

/** Resolves the `identifiers` option. Throws a start-up error if it is empty or names one twice. */
export function identifiersOf(
  options: readonly IdentifierOption[] | undefined,
  names: StoredNames,
): readonly Identifier[] {
  if (options !== undefined && (!Array.isArray(options) || options.length === 0)) {
    fail(`'identifiers' must name at least one field`)
  }
  const all = (options ?? ['email']).map((option) => identifierOf(option, names))
  if (new Set(all.map(({ field }) => field)).size < all.length) {
    fail(`'identifiers' names a field twice`)
  }
  return all
}

function identifierOf(option: IdentifierOption, names: StoredNames): Identifier {
  const { field: name, normalize } = (
    typeof option === 'string' ? { field: option } : (option ?? {})
  ) as Partial<Exclude<IdentifierOption, string>>
  if (typeof name !== 'string' || name === '') {
    return fail(`'identifiers' must be a list of field names`)
  }
  callable(`identifiers.${name}.normalize`, normalize)
  const field = storedField(name, names)
  const kind = kindOf(field, names)
  return { name, field, kind, normalize: normalize ? bounded(normalize) : normalizers[kind] }
}

/** UTF-16 units. No identifier is longer, but an attacker's may be as long as a body. */
export const MAX_LENGTH = 1024

/** `normalize` for strings up to the longest identifier; a longer one is not an identifier. */
function bounded(normalize: Normalizer): Normalizer {
  // `String.normalize` takes time that grows with the square of a run of combining marks.
  return (text) =>
    text.length > MAX_LENGTH ? undefined : atOnce("'normalize' of an identifier", normalize(text))
}

type Normalizer = (text: string) => string | undefined

/** The default normalizer of each kind; for a string of more than 1,024 characters each returns undefined. */
export const normalizers: Readonly<Record<IdentifierKind, Normalizer>> = {
  email: bounded(normalizeEmail),
  phone: bounded(normalizePhone),
  name: bounded(normalizeName),
}

// Invisible characters: names that differ only in them look alike, and some databases end a string at NUL.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u
/** Trimmed; without invisible characters. */
function normalizeName(text: string): string | undefined {
  const name = text.trim()
  return name !== '' && name.isWellFormed() && !UNSEEN.test(name) ? name : undefined
}

// Dots of domain names besides the full stop (UTS #46): mail libraries fold them into it.
const OTHER_DOTS = /[\u3002\uFF0E\uFF61]/
// RFC 5322 specials: mail libraries read them as lists, groups and display names, so an address with one of them might
// reach another mailbox.
const MAIL_SYNTAX = /[\s\p{Cc}\p{Cf}\p{Zs}()<>[\]:;\\,"]/u
const ADDRESS = /^[^@]+@[^@.]+(?:\.[^@.]+)*$/

/** Trimmed, composed, and folded independently of locale; one `@`, and no character that would split a mail header. */
function normalizeEmail(text: string): string | undefined {
  const address = fold(text.trim().normalize('NFC'))
  if (!address.isWellFormed() || !ADDRESS.test(address)) return undefined
  // A full-width @ or comma turns into the real one if a mail library applies compatibility forms.
  const compatible = address.normalize('NFKC')
  const safe = (form: string) => !MAIL_SYNTAX.test(form) && !UNSEEN.test(form) && ADDRESS.test(form)
  return safe(address) && safe(compatible) && isOwnDomain(address) ? address : undefined
}

/** Whether the domain is spelled as name servers see it: two spellings of one domain would be two accounts. */
function isOwnDomain(address: string): boolean {
  const domain = address.slice(address.indexOf('@') + 1)
  return !OTHER_DOTS.test(domain) && domain === domain.normalize('NFKC')
}

/** International numbers have at most 15 digits (ITU-T E.164); country prefixes may be added. */
const PHONE = /^\+?\d{1,20}$/

function normalizePhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]/g, '')
  return PHONE.test(digits) ? digits : undefined
}

/**
 * Identifiers: how differently typed names of one account become the same text.
 *
 * @module
 */

import { fold } from '../ports/fold.ts'
import { callable, fail } from './checks.ts'
import { isStoredName, type StoredNames } from './field-names.ts'

/** An identifier as options name it: a field, or a field with a normalizer of its own. */
export type IdentifierOption =
  | string
  | { readonly field: string; normalize?(text: string): string | undefined }

/** What an identifier is: an e-mail address, a phone number, or any other name. */
export type IdentifierKind = 'email' | 'phone' | 'name'

/** An identifier, resolved. */
export interface Identifier {
  /** The name that clients use beside the stored one: `email`, whatever it is stored as. */
  readonly name: string
  /** The stored field. */
  readonly field: string
  readonly kind: IdentifierKind
  /** The one form of `text`, or undefined where it is none of this kind. */
  normalize(text: string): string | undefined
}

/** What the identifier in the stored field `field` is. */
export function kindOf(field: string, names: StoredNames): IdentifierKind {
  if (field === names.email) return 'email'
  return field === names.phone ? 'phone' : 'name'
}

/** The field that stores the identifier named `name`. */
export function storedField(name: string, names: StoredNames): string {
  return isStoredName(name) ? names[name] : name
}

/** Resolves the `identifiers` option. Throws a start-up error for none, and for one twice. */
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
  return { name, field, kind, normalize: normalize ?? normalizers[kind] }
}

/** The default normalizer of each kind. */
export const normalizers: Readonly<Record<IdentifierKind, (text: string) => string | undefined>> = {
  email: normalizeEmail,
  phone: normalizePhone,
  name: (text) => text.trim() || undefined,
}

// RFC 5322 specials: mail libraries read them as lists, groups and display names, so that an address with
// one of them might reach somebody else.
const MAIL_SYNTAX = /[\s\p{Cc}\p{Cf}\p{Zs}()<>[\]:;\\,"]/u
const ADDRESS = /^[^@]+@[^@.]+(?:\.[^@.]+)*$/

/** Trimmed, composed, and folded independently of locale; one `@`, nothing that a mail header would split at. */
function normalizeEmail(text: string): string | undefined {
  const address = fold(text.trim().normalize('NFC'))
  if (!address.isWellFormed() || !ADDRESS.test(address)) return undefined
  // A full-width @ or comma turns into the real one where mail libraries apply compatibility forms.
  const compatible = address.normalize('NFKC')
  const safe = (form: string) => !MAIL_SYNTAX.test(form) && ADDRESS.test(form)
  return safe(address) && safe(compatible) ? address : undefined
}

function normalizePhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]/g, '')
  return /^\+?\d+$/.test(digits) ? digits : undefined
}

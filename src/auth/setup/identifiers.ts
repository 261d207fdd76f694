/** Identifiers: turns the differently typed names of one account into the same string. */

import { atOnce } from '../../ports/synchronous.ts'
import { callable, fail } from '../option-checks.ts'
import { isStoredName, type StoredNames } from './field-names.ts'
import { type IdentifierKind, limitLength, normalizers } from './normal-forms.ts'

/**
 * An identifier in the options: a field, or a field with your own normalizer, which returns undefined for an invalid
 * value.
 */
export type IdentifierOption =
  | string
  | { readonly field: string; normalize?(text: string): string | undefined }

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
  return { name, field, kind, normalize: normalize ? givenBy(normalize) : normalizers[kind] }
}

function givenBy(normalize: (text: string) => string | undefined): Identifier['normalize'] {
  return limitLength((text) => atOnce("'normalize' of an identifier", normalize(text)))
}

/**
 * The other identifier that `name`, in its normal form, reads as. At a sign-in it would shadow the owner of that one, or
 * be shadowed. Undefined if it reads as a name.
 */
export function misreadAs(
  { kind }: Identifier,
  name: string,
  identifiers: readonly Identifier[],
): string | undefined {
  if (kind !== 'name') return undefined
  const other = identifiers.find((one) => one.kind !== 'name' && readsAs(one, name))
  return other && (other.kind === 'email' ? 'an email address' : 'a phone number')
}

/** Digits of any script, and what phone numbers have around them. */
const PHONE_LIKE = /^[\p{Nd}\s().+/\p{Pd}]+$/u
const DIGIT = /\p{Nd}/u

function readsAs({ kind, normalize }: Identifier, name: string): boolean {
  // As a person reads it, full-width characters too.
  const plain = name.normalize('NFKC')
  const isAlike =
    kind === 'email' ? plain.includes('@') : PHONE_LIKE.test(plain) && DIGIT.test(plain)
  return isAlike || normalize(name) !== undefined
}

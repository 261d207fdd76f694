/** Identifiers: turns the differently typed names of one account into the same string. */

import { atOnce } from '../../ports/promises/synchronous.ts'
import { fold } from '../../ports/values/fold.ts'
import { callable, fail } from '../option-checks.ts'
import { isStoredName, type StoredNames } from './field-names.ts'

/**
 * An identifier in the options: a field, or a field with your own normalizer, which returns undefined for an invalid
 * value.
 */
export type IdentifierOption =
  | string
  | {
      readonly field: string
      normalize?(text: string): string | undefined
      /** Not to be set: without it the compiler takes `text` from `String.normalize`, and infers any. */
      readonly length?: undefined
    }

export interface Identifier {
  /** The name that clients may use besides the stored one, e.g. `email` if the field is named `mail`. */
  readonly name: string
  readonly field: string
  readonly kind: IdentifierKind
  readonly own: Normalizer | undefined
  /** The normalized form of `text`, or undefined if it is not of this kind. */
  normalize(text: string): string | undefined
}

/** Resolves the `identifiers` option. Throws a start-up error if it is empty or names one twice. */
export function identifiersOf(
  options: readonly IdentifierOption[] | undefined,
  names: StoredNames,
): readonly Identifier[] {
  if (options !== undefined && !Array.isArray(options)) {
    fail(`'identifiers' must be a list of names, such as ['email']`)
  }
  if (options?.length === 0) fail(`'identifiers' must name at least one field`)
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
  const field = isStoredName(name) ? names[name] : name
  const kind = (['email', 'phone'] as const).find((name) => field === names[name]) ?? 'name'
  const limited =
    normalize && limitLength((text) => atOnce("'normalize' of an identifier", normalize(text)))
  return { name, field, kind, own: normalize, normalize: limited ?? normalizers[kind] }
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

export type IdentifierKind = 'email' | 'phone' | 'name'

/** The normal form of a text; undefined if it is not valid. */
export type Normalizer = (text: string) => string | undefined

/** UTF-16 units. No identifier is longer, but an attacker's may be as long as a body. */
export const MAX_LENGTH = 1024

/** `normalize` for strings up to the longest identifier; a longer one is not an identifier. */
export function limitLength(normalize: Normalizer): Normalizer {
  // `String.normalize` takes time that grows with the square of a run of combining marks.
  return (text) => (text.length > MAX_LENGTH ? undefined : normalize(text))
}

/** The default normalizer of each kind; for a string of more than 1,024 characters each returns undefined. */
export const normalizers: Readonly<Record<IdentifierKind, Normalizer>> = {
  email: limitLength(normalizeEmail),
  phone: limitLength(normalizePhone),
  name: limitLength(normalizeName),
}

// Names that differ only in these look alike, and some databases end a string at NUL. The last ones are drawn as
// nothing, although Unicode counts them among letters and symbols.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u

export function hasUnseen(text: string): boolean {
  return !text.isWellFormed() || UNSEEN.test(text)
}

/** Composed (NFC) and trimmed, with one plain blank for each run of blanks; without invisible characters. */
function normalizeName(text: string): string | undefined {
  const name = text
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim()
  return name !== '' && !hasUnseen(name) ? name : undefined
}

// Dots of domain names besides the full stop (UTS #46): mail libraries fold them into it.
const OTHER_DOTS = /[\u3002\uFF0E\uFF61]/
// RFC 5322 specials: mail libraries read them as lists, groups and display names, so an address with one of them might
// reach another mailbox.
const MAIL_SYNTAX = /[\s\p{Cc}\p{Cf}\p{Zs}()<>[\]:;\\,"]/u
// RFC 5321, 4.1.2: a local part without quotes has no dot at an end, and no two in a row.
const ADDRESS = /^[^@.]+(?:\.[^@.]+)*@[^@.]+(?:\.[^@.]+)*$/

/** Folded independently of locale; one `@`, and no character that would split a mail header. */
function normalizeEmail(text: string): string | undefined {
  // Of some letters only the small one is composed with its mark: `J̌` and `ǰ`.
  const address = fold(text.trim().normalize('NFC')).normalize('NFC')
  if (!address.isWellFormed() || !ADDRESS.test(address)) return undefined
  // A full-width @ or comma turns into the real one if a mail library applies compatibility forms.
  const compatible = address.normalize('NFKC')
  const safe = (form: string) => !MAIL_SYNTAX.test(form) && !UNSEEN.test(form) && ADDRESS.test(form)
  if (!safe(address) || !safe(compatible)) return undefined
  const at = address.indexOf('@') + 1
  const domain = asciiDomain(address.slice(at))
  return domain && address.slice(0, at) + domain
}

/** A part of a domain, but for its length and its end. */
const LABEL = /^[a-z0-9_][a-z0-9_-]*$/
const MAX_LABEL_LENGTH = 63
/** The end of an IPv4 address, which URL parsers also read in hexadecimal digits. */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/
const MAX_DOMAIN_LENGTH = 253

/** In its ASCII form (UTS #46): `bücher.example` and `xn--bcher-kva.example` are one mailbox. */
function asciiDomain(domain: string): string | undefined {
  if (OTHER_DOTS.test(domain) || domain !== domain.normalize('NFKC')) return undefined
  // Others of ASCII end a host in a URL, or are escapes there.
  if (!/^[\w.\-\P{ASCII}]+$/u.test(domain)) return undefined
  const ascii = /^[\w.-]*$/.test(domain) && !domain.includes('xn--') ? domain : hostOf(domain)
  const isLabel = (part: string) =>
    part.length <= MAX_LABEL_LENGTH && LABEL.test(part) && !part.endsWith('-')
  const isDomain = ascii.length <= MAX_DOMAIN_LENGTH && ascii.split('.').every(isLabel)
  return isDomain && !NUMBER_AT_END.test(ascii) ? ascii : undefined
}

/** What the URL Standard makes of a host, by UTS #46; empty if it is not valid. */
function hostOf(domain: string): string {
  const url = `http://${domain}`
  return URL.canParse(url) ? new URL(url).hostname : ''
}

/** International numbers have at most 15 digits (ITU-T E.164), and no country's code begins with 0. */
const PHONE = /^(?:\+[1-9]\d{4,14}|\d{5,15})$/

function normalizePhone(text: string): string | undefined {
  const number = text.replace(/[\s().-]/g, '').replace(/^00/, '+')
  return PHONE.test(number) ? number : undefined
}

/**
 * `userFields`: the zod fields that the auth routes need in a user model (spec 2.4).
 *
 * @module
 */

import {
  _default,
  array,
  date,
  maxLength,
  number,
  object,
  optional,
  overwrite,
  refine,
  string,
} from 'zod/mini'
import type {
  $ZodArray,
  $ZodDate,
  $ZodDefault,
  $ZodNumber,
  $ZodOptional,
  $ZodString,
  $ZodType,
} from 'zod/v4/core'
import { hiddenField } from '../../model/hidden.ts'
import { idFieldsOf } from '../providers/registry.ts'
import { type StoredNames, storedNames } from './field-names.ts'
import { type IdentifierOption, kindOf, storedField } from './identifiers.ts'
import { type IdentifierKind, MAX_LENGTH, normalizers } from './normal-forms.ts'
import type { UserFieldsOptions } from './options.ts'
import { firstRole, roleSettings } from './roles.ts'

type Text = $ZodOptional<$ZodString<string>>
type Instant = $ZodOptional<$ZodDate>
type Count = $ZodDefault<$ZodNumber>

type IdentifierNames<O> = O extends { readonly identifiers: readonly (infer I)[] }
  ? I extends string
    ? I
    : I extends { readonly field: infer F extends string }
      ? F
      : never
  : 'email'

type ProviderFields<O> = O extends { readonly social: infer S }
  ? {
      [Name in Exclude<keyof S & string, 'linking'>]: S[Name] extends {
        readonly idField: infer F extends string
      }
        ? F
        : `${Name}Id`
    }[Exclude<keyof S & string, 'linking'>]
  : never

type RoleSchema<O> = O extends { readonly roles: { readonly multiple: true } }
  ? $ZodDefault<$ZodArray<$ZodString<string>>>
  : $ZodDefault<$ZodString<string>>

type ByDefaultName<O> = {
  readonly [Name in IdentifierNames<O> | ProviderFields<O> | 'password']: Text
} & { readonly role: RoleSchema<O> }

type Renamed<S, Names> = {
  readonly [Name in keyof S as Name extends keyof Names
    ? Names[Name] extends string
      ? Names[Name]
      : Name
    : Name]: S[Name]
}

type RoleName<O> = O extends { readonly roles: { readonly field: infer F extends string } }
  ? { readonly role: F }
  : unknown

/** The fields that `userFields` returns for the options `O`, without the secrets that it adds besides. */
export type UserFields<O> = Renamed<
  ByDefaultName<O>,
  (O extends { readonly fields: infer Names } ? Names : unknown) & RoleName<O>
>

/**
 * The fields that accounts need, to spread into a user model. Pass the same `identifiers`, `fields`, `social`, `refresh`,
 * `roles` and `emailVerification` as to `createAuthRouter`. Secrets hide themselves: no
 * route of the model shows them, and but for the password's hash the type of a
 * record leaves them out.
 *
 * ```ts
 * const User = defineModel('User', {
 *   fields: { ...userFields({ refresh: { enabled: true } }), name: z.string().optional() },
 *   unique: ['email'],
 *   timestamps: true,
 * })
 * ```
 */
export function userFields<const O extends UserFieldsOptions = Record<never, never>>(
  options?: O,
): UserFields<O> {
  const given: UserFieldsOptions = options ?? {}
  const names = storedNames({
    ...given.fields,
    ...(given.roles?.field !== undefined && { role: given.roles.field }),
  })
  const fields = identifierFields(given, names)
  fields[names.password] = secretText()
  fields[names.role] = roleField(given)
  fields[names.passwordChangedAt] = secretDate()
  for (const idField of idFieldsOf(given.social, given.fields)) fields[idField] = optional(string())
  fields[names.otpHash] = secretText()
  fields[names.otpPurpose] = secretText()
  fields[names.otpExpiresAt] = secretDate()
  fields[names.otpAttempts] = secretCount()
  fields[names.otpSentAt] = secretDate()
  fields[names.smsOtpHash] = secretText()
  fields[names.smsOtpExpiresAt] = secretDate()
  fields[names.smsOtpAttempts] = hiddenField(optional(number()))
  fields[names.smsOtpSentAt] = secretDate()
  fields[names.failedLoginAttempts] = secretCount()
  fields[names.lockedUntil] = secretDate()
  fields[names.wrongPasswords] = hiddenField(optional(number()))
  fields[names.knownClients] = hiddenField(optional(array(knownClient())))
  fields[names.knownTries] = hiddenField(optional(array(knownTries())))
  fields[names.answerAttempts] = hiddenField(optional(number()))
  fields[names.answersLockedUntil] = secretDate()
  const isIdentifier = (field: string) => Object.hasOwn(fields, field)
  if (given.social || isIdentifier(names.email)) fields[names.provenEmail] = secretText()
  if (isIdentifier(names.phone)) fields[names.provenPhone] = secretText()
  if (given.emailVerification) {
    fields[names.provenEmail] = secretText()
    fields[names.pendingEmail] = secretText()
    fields[names.verifyOtpHash] = secretText()
    fields[names.verifyOtpExpiresAt] = secretDate()
    fields[names.verifyOtpAttempts] = hiddenField(optional(number()))
    fields[names.verifyOtpSentAt] = secretDate()
  }
  if (given.refresh) fields[names.refreshTokens] = hiddenField(optional(array(session())))
  return fields as unknown as UserFields<O>
}

function identifierFields(
  { identifiers = ['email'] }: UserFieldsOptions,
  names: StoredNames,
): Record<string, $ZodType> {
  const entries = identifiers.map((option) => {
    const { field: name, normalize }: Exclude<IdentifierOption, string> =
      typeof option === 'string' ? { field: option } : option
    const field = storedField(name, names)
    const kind = kindOf(field, names)
    return [field, optional(normalize ? ownString() : normalized(kind))] as const
  })
  return Object.fromEntries(entries)
}

/** As long as an identifier can be. */
function ownString(): $ZodString {
  return string().check(maxLength(MAX_LENGTH))
}

const INVALID: Readonly<Record<IdentifierKind, string>> = {
  email: 'Invalid email address.',
  phone: 'Invalid phone number.',
  name: 'Invalid name.',
}

/** An account has one form of its address, no matter which code writes the field. */
function normalized(kind: IdentifierKind): $ZodString {
  const normalize = normalizers[kind]
  return string().check(
    overwrite((text: string) => normalize(text) ?? text),
    refine((text) => normalize(String(text)) !== undefined, INVALID[kind]),
  )
}

function roleField(options: UserFieldsOptions): $ZodType {
  const roles = roleSettings(options.roles)
  const allowed = options.roles?.list
  const role = string().check(
    refine((name) => !allowed || allowed.includes(String(name)), 'Unknown role.'),
  )
  const first = firstRole(roles)
  return roles.multiple
    ? _default(array(role), () => [...(first as string[])])
    : _default(role, first as string)
}

function secretText(): Text {
  return hiddenField(optional(string()))
}

function secretDate(): Instant {
  return hiddenField(optional(date()))
}

function secretCount(): Count {
  return hiddenField(_default(number(), 0))
}

function knownClient(): $ZodType {
  return object({
    client: string(),
    guesses: number(),
    wrong: optional(number()),
    lockedUntil: optional(date()),
    at: date(),
  })
}

function knownTries(): $ZodType {
  return object({ kind: string(), until: date(), count: number() })
}

function session(): $ZodType {
  return object({
    id: string(),
    hash: string(),
    previousHash: optional(string()),
    swappedHash: optional(string()),
    rotatedAt: optional(date()),
    createdAt: date(),
    lastUsedAt: date(),
    expiresAt: date(),
    userAgent: optional(string()),
  })
}

/** `userFields`: the zod fields that the auth routes need in a user model. */

import * as z from 'zod/mini'
import type {
  $ZodArray,
  $ZodBoolean,
  $ZodDefault,
  $ZodOptional,
  $ZodString,
  $ZodType,
} from 'zod/v4/core'
import { defineModel } from '../../model/define.ts'
import type { FieldSchemas, Inputs, Model, Values } from '../../model/model.ts'
import { isSchema } from '../../model/parts.ts'
import { marked } from '../../model/shape/stored.ts'
import { didYouMean } from '../../model/suggest.ts'
import { fail, group, string } from '../option-checks.ts'
import { idFieldsOf, MAX_ID_LENGTH } from '../providers/provider.ts'
import {
  isStoredName,
  namesOf,
  SECRET_KINDS,
  SECRETS,
  type SecretName,
  type StoredName,
  type StoredNames,
} from './field-names.ts'
import { type IdentifierKind, identifiersOf, MAX_LENGTH, normalizers } from './identifiers.ts'
import type { AuthOptions, UserFieldsOptions } from './options.ts'
import { roleSettings } from './roles.ts'

type Text = $ZodOptional<$ZodString<string>>

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
  options?: O & UserFieldsOptions,
): UserFields<O> {
  const given: UserFieldsOptions = options ?? {}
  const names = namesOf(given)
  const fields = identifierFields(given, names)
  const isIdentifier = (name: 'email' | 'phone') => Object.hasOwn(fields, names[name])
  const isDeclared: { readonly [Name in SecretName]?: boolean } = {
    provenEmail: isIdentifier('email') || Boolean(given.social ?? given.emailVerification),
    provenPhone: isIdentifier('phone'),
    refreshTokens: Boolean(given.refresh),
  }
  fields[names.role] = roleField(given)
  for (const idField of idFieldsOf(given.social, given.fields))
    fields[idField] = z.optional(z.string().check(z.maxLength(MAX_ID_LENGTH)))
  for (const name of SECRETS) {
    const isOfCodes = name === 'pendingEmail' || name.startsWith('verifyOtp')
    const isNeeded = isOfCodes ? Boolean(given.emailVerification) : (isDeclared[name] ?? true)
    if (isNeeded) fields[names[name]] = marked(DECLARE[SECRET_KINDS[name]](), 'hidden')
  }
  return fields as unknown as UserFields<O>
}

const DECLARE: Readonly<Record<(typeof SECRET_KINDS)[SecretName], () => $ZodType>> = {
  string: () => z.optional(z.string()),
  date: () => z.optional(z.date()),
  count: () => z._default(z.number(), 0),
  number: () => z.optional(z.number()),
  clients: () =>
    listOf({
      client: z.string(),
      guesses: z.number(),
      wrong: z.optional(z.number()),
      lockedUntil: z.optional(z.date()),
      at: z.date(),
    }),
  tries: () => listOf({ kind: z.string(), until: z.date(), count: z.number() }),
  sessions: () =>
    listOf({
      id: z.string(),
      hash: z.string(),
      previousHash: z.optional(z.string()),
      swappedHash: z.optional(z.string()),
      rotatedAt: z.optional(z.date()),
      createdAt: z.date(),
      lastUsedAt: z.date(),
      expiresAt: z.date(),
      confirmedAt: z.optional(z.date()),
      strongAt: z.optional(z.date()),
      userAgent: z.optional(z.string()),
    }),
}

function listOf(shape: Readonly<Record<string, $ZodType>>): $ZodType {
  return z.optional(z.array(z.object(shape)))
}

function identifierFields(
  { identifiers = ['email'] }: UserFieldsOptions,
  names: StoredNames,
): Record<string, $ZodType> {
  const entries = identifiersOf(identifiers, names).map(({ field, kind, own }) => {
    const text = own ? z.string().check(z.maxLength(MAX_LENGTH)) : identifierText(kind)
    return [field, z.optional(text)] as const
  })
  return Object.fromEntries(entries)
}

const INVALID: Readonly<Record<IdentifierKind, string>> = {
  email: 'Invalid email address.',
  phone: 'Invalid phone number.',
  name: 'Invalid name.',
}

/** An account has one form of its address, no matter which code writes the field. */
function identifierText(kind: IdentifierKind): $ZodString {
  const normalize = normalizers[kind]
  return z.string().check(
    z.overwrite((text: string) => normalize(text) ?? text),
    z.refine((text) => normalize(String(text)) !== undefined, INVALID[kind]),
  )
}

function roleField({ roles }: UserFieldsOptions): $ZodType {
  const { multiple, first } = roleSettings(roles)
  const isRole = (name: string) => !roles?.list || roles.list.includes(name)
  const role = z.string().check(z.refine(isRole, 'Unknown role.'))
  return multiple
    ? z._default(z.array(role), () => [...(first as string[])])
    : z._default(role, first as string)
}

type NamesIn<F> = { readonly [K in keyof F as F[K] extends string ? K : never]: F[K] }
type SchemasIn<F> = { readonly [K in keyof F as F[K] extends $ZodType ? K : never]: F[K] }
type Disabled<F> = F extends { readonly disabled: infer Name extends string }
  ? { readonly [K in Name]: $ZodDefault<$ZodBoolean<boolean>> }
  : unknown

/** The fields of the model that is made of the options `fields`, `identifiers`, `social` and `roles`. */
type OwnSchemas<F, N, S, L> = UserFields<{
  readonly identifiers: N
  readonly fields: NamesIn<F>
  readonly social: S
  readonly roles: L
}> &
  SchemasIn<F> &
  Disabled<F>

/** The fields of that model, and what a write takes. */
export type OwnUser<F, N, S, L> =
  OwnSchemas<F, N, S, L> extends infer Own extends FieldSchemas ? Values<Own> : never
export type OwnInput<F, N, S, L> =
  OwnSchemas<F, N, S, L> extends infer Own extends FieldSchemas ? Inputs<Own> : never

/**
 * `options` with a model: their own, or one with what `userFields` adds for them, the fields that they declare, and what
 * must be unique. What is left of `fields` are stored names.
 */
export function withModel(options: AuthOptions<never>): AuthOptions<never> {
  // Programs in JavaScript may pass anything.
  if (typeof options !== 'object' || options === null) return options
  const { model, name = 'User', fields } = options
  const given = Object.entries(group('fields', fields))
  const own = given.filter(([, value]) => isSchema(value)) as [string, $ZodType][]
  const others = given.filter(([, value]) => !isSchema(value)) as [string, string][]
  for (const [field, stored] of others) checkRenamed(field, stored)
  if (model !== undefined) {
    if (options.name !== undefined) fail(`'name' is for the model that is made without 'model'`)
    if (own[0]) {
      fail(`'fields.${own[0][0]}' is a schema: with a 'model' of your own, declare the field there`)
    }
    return options
  }
  const renamed: { readonly [Name in StoredName]?: string } = Object.fromEntries(others)
  // The environment may switch refresh tokens on, which is read when the router is mounted.
  const { refresh = {} } = options
  const base = userFields({ ...options, refresh, fields: renamed } as never) as FieldSchemas
  if (own.some(([field]) => field === 'disabled'))
    fail(
      `'fields.disabled' is the name of the boolean that blocks an account: write disabled: 'disabled', which declares it`,
    )
  const taken = own.find(([field]) => Object.hasOwn(base, field))
  if (taken) fail(`'fields.${taken[0]}' is a field that accounts have: it can only be renamed`)
  const { disabled } = renamed
  const names = namesOf({ fields: renamed, roles: options.roles })
  const identifiers = identifiersOf(options.identifiers, names).map(({ field }) => field)
  const unique = [...identifiers, ...idFieldsOf(options.social, renamed)]
  const made = defineModel(name, {
    fields: {
      ...base,
      ...(disabled && { [disabled]: z._default(z.boolean(), false) }),
      ...Object.fromEntries(own),
    },
    unique,
    // A list has no order, and so no index.
    indexes: options.roles?.multiple ? [] : [names.role],
  }) as unknown as Model<never>
  return { ...options, name: undefined, model: made, fields: renamed } as never
}

function checkRenamed(field: string, stored: string): void {
  if (!isStoredName(field))
    fail(`'fields' has the unknown key '${field}'.${didYouMean(field, Object.keys(namesOf({})))}`)
  string(`fields.${field}`, stored)
}

/** The user model that `createAuthRouter` makes of its options, if it is given none. */

import { _default, boolean } from 'zod/mini'
import type { $ZodBoolean, $ZodDefault, $ZodType } from 'zod/v4/core'
import { defineModel } from '../../model/define.ts'
import type { FieldSchemas, Inputs, Model, Values } from '../../model/model.ts'
import { fail } from '../option-checks.ts'
import { idFieldsOf } from '../providers/registry.ts'
import { namesOf, type StoredName } from './field-names.ts'
import { identifiersOf } from './identifiers.ts'
import type { AuthOptions } from './options.ts'
import { type UserFields, userFields } from './user-fields.ts'

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
  const { model, name = 'User', fields = {} } = options
  if (model !== undefined) {
    if (options.name !== undefined) fail(`'name' is for the model that is made without 'model'`)
    const own = Object.keys(fields).find((field) => isSchema(fields[field]))
    if (own !== undefined) {
      fail(`'fields.${own}' is a schema: with a 'model' of your own, declare the field there`)
    }
    return options
  }
  const given = Object.entries(fields)
  const renamed = Object.fromEntries(given.filter(([, value]) => !isSchema(value))) as {
    readonly [Name in StoredName]?: string
  }
  const base = userFields({ ...options, fields: renamed } as never) as FieldSchemas
  const own = given.filter(([, value]) => isSchema(value)) as [string, $ZodType][]
  const taken = own.find(([field]) => Object.hasOwn(base, field))
  if (taken) fail(`'fields.${taken[0]}' is a field that accounts have: it can only be renamed`)
  const { disabled } = renamed
  const names = namesOf({ fields: renamed, roles: options.roles })
  const identifiers = identifiersOf(options.identifiers, names).map(({ field }) => field)
  const unique = [...identifiers, ...idFieldsOf(options.social, renamed)]
  const made = defineModel(name, {
    fields: {
      ...base,
      ...(disabled && { [disabled]: _default(boolean(), false) }),
      ...Object.fromEntries(own),
    },
    unique,
  }) as unknown as Model<never>
  return { ...options, name: undefined, model: made, fields: renamed } as never
}

function isSchema(value: unknown): boolean {
  return (value as { _zod?: unknown } | null | undefined)?._zod !== undefined
}

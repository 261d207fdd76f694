/** Users as the authentication API shows them, and the bodies that describe them. */

import type { Auth } from '../../auth/instance/instance.ts'
import { MAX_BYTES } from '../../auth/keys/passwords.ts'
import * as account from '../../auth/refusals.ts'
import { MAX_LENGTH } from '../../auth/setup/identifiers.ts'
import type { HttpError } from '../../http/errors/errors.ts'
import type { Schemas } from '../schemas/named-schemas.ts'
import {
  bodySchema,
  type Converted,
  converted,
  type ObjectSchema,
  object,
  recordSchema,
  TEXT,
} from '../schemas/schemas.ts'
import type { Schema } from '../specification.ts'

/** Who is meant: an e-mail address, or what else names an account. */
export const IDENTIFIER: Schema = { type: 'string', maxLength: MAX_LENGTH }

export const SECONDS: Schema = { type: 'integer', minimum: 1, description: 'Seconds.' }

/** A user without secrets; with `visible`, what others see of one. */
export function userSchema(
  { settings, users }: Auth,
  schemas: Schemas,
  visible?: readonly string[],
): Schema {
  const { model, list } = settings
  if (model.output && list.lean !== true) return {}
  const { schema, defs } = recordSchema({ ...model, hidden: users.hidden })
  if (!visible) return schemas.add(model.name, { schema, defs })
  // The user and admins see all of it.
  return schemas.add(`${model.name}View`, { schema: { ...schema, required: ['_id'] }, defs })
}

export function signInSchema(
  { settings }: Auth,
  user: Schema,
  schemas: Schemas,
  isSocial = false,
): Schema {
  const data = object({
    token: { type: 'string', description: 'The access token.' },
    expiresIn: SECONDS,
    ...(settings.refresh && {
      refreshToken: TEXT,
      refreshExpiresIn: { type: 'integer', description: 'Seconds.' },
    }),
    user,
    ...(isSocial && { provider: TEXT }),
  })
  return schemas.own(isSocial ? 'ProviderSignIn' : 'SignIn', data)
}

/** What a login responds, which may end the sign-in that a provider began. */
export function loginData(auth: Auth, user: Schema, schemas: Schemas): Schema {
  const { onLogin, providers } = auth.settings
  const own = signInSchema(auth, user, schemas)
  return providers.size > 0 && (onLogin || auth.machinery)
    ? { anyOf: [own, signInSchema(auth, user, schemas, true)] }
    : own
}

export function passwordSchema({ settings }: Auth): Schema {
  return { type: 'string', minLength: settings.password.minLength, maxLength: MAX_BYTES }
}

export function passwordRefusals({ settings }: Auth): readonly HttpError[] {
  const { minLength, check } = settings.password
  return [
    account.passwordRequired(),
    account.passwordTooShort(minLength),
    account.passwordTooLong(MAX_BYTES),
    account.passwordTooCommon(),
    account.passwordTooPersonal(),
    ...(check ? [account.passwordRejected('<what password.check says>')] : []),
  ]
}

/** A body with these members and any others; `identifier` may have the name of an identifier field too. */
export function bodyWith(
  properties: Readonly<Record<string, Schema>>,
  ...required: readonly string[]
): ObjectSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

export function registerBody(auth: Auth): Converted {
  const { settings } = auth
  const { schema, defs } = bodySchema(settings.model, settings.registerFields, 'create')
  const { properties = {}, required = [] } = schema as ObjectSchema
  const identifiers = settings.identifiers.map(({ field, kind }) => {
    const format = kind === 'email' ? { format: 'email' } : {}
    return [field, { ...IDENTIFIER, ...format }] as const
  })
  const names = identifiers.map(([field]) => field)
  return {
    schema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(identifiers),
        password: passwordSchema(auth),
        ...properties,
      },
      required: [...(names.length === 1 ? names : []), 'password', ...required],
      // Of several identifiers, any one will do.
      ...(names.length > 1 && { anyOf: names.map((field) => ({ required: [field] })) }),
    },
    defs,
  }
}

export function profileBody({ settings }: Auth): Converted {
  const { schema, defs } = bodySchema(settings.model, settings.updateFields, 'update')
  const { properties = {}, ...rest } = schema as ObjectSchema
  const changes = settings.identifiers.some(({ field }) => settings.updateFields.includes(field))
  return {
    schema: { ...rest, properties: { ...properties, ...(changes && { currentPassword: TEXT }) } },
    defs,
  }
}

/** What the providers take: which of the members, depends on the provider. */
export function providerBody({ settings }: Auth): Schema {
  const names = [...settings.providers.values()].flatMap(({ credentials, companions = [] }) => [
    ...credentials,
    ...companions,
  ])
  return bodyWith(Object.fromEntries([...new Set(names)].map((name) => [name, TEXT])))
}

/**
 * The second step of a sign-in has a ticket, and what `onLogin` asks for. Where newcomers get an account, `schemas` gets what
 * they may send; `isOwn` is for a user who confirms.
 */
export function loginBody(
  { settings, factors, methods }: Auth,
  schemas: Schemas,
  isOwn = false,
): Schema {
  const { model, registerFields } = settings
  const newcomers = (): Schema => {
    // Who has an account sends none of them.
    const { schema, defs } = bodySchema(model, registerFields, 'create')
    const { required: _, ...optional } = schema as ObjectSchema
    return schemas.add('Newcomer', { schema: optional, defs })
  }
  // Who is signed in need not say who they are.
  const asked = (schema: ObjectSchema): Schema =>
    isOwn
      ? { ...schema, required: (schema.required ?? []).filter((name) => name !== 'identifier') }
      : schema
  const names = { identifier: IDENTIFIER, password: TEXT }
  const first = asked(bodyWith(names, 'identifier', 'password'))
  const others = methods.flatMap(({ signIn }) => {
    if (!signIn?.body) return []
    const body = asked(converted(signIn.body, 'input').schema as ObjectSchema)
    const signsUp = signIn.signsUp && !isOwn && registerFields.length > 0
    return [signsUp ? { ...body, allOf: [newcomers()] } : body]
  })
  const answers = (factors?.all ?? []).map(({ answer: [key, type] }) => [key, { type }] as const)
  if (!settings.onLogin && answers.length + others.length === 0) return first
  const second = bodyWith({ ticket: TEXT, ...Object.fromEntries(answers) }, 'ticket')
  return { anyOf: [first, ...others, second] }
}

export function rolesBody({ settings }: Auth): Schema {
  const { list, multiple } = settings.roles
  const role = { type: 'string', enum: list }
  const roles = { type: 'array', items: role, minItems: 1, ...(!multiple && { maxItems: 1 }) }
  return { ...bodyWith({ role, roles }), minProperties: 1 }
}

/** What a change may be refused for that needs the current password. */
export function reauthenticationRefusals(): readonly HttpError[] {
  return [
    account.currentPasswordRequired(),
    account.currentPasswordIncorrect(),
    account.recentSignInRequired(),
  ]
}

/**
 * The user model against what the options need of it: fields, their types, unique indexes, and secrets that
 * stay secret.
 *
 * @module
 */

import { isHidden, type Model } from '../model/define.ts'
import { isForbiddenKey } from '../model/writable.ts'
import type { Shape } from '../ports/shape.ts'
import { fail } from './checks.ts'
import { SECRETS } from './field-names.ts'
import type { AuthSettings } from './settings.ts'

type Kind = Shape['kind']

/** Refuses a model that lacks something, or shows a secret. */
export function checkModel(settings: AuthSettings): void {
  const { model, names, providers, identifiers, refresh, paths, roles, delivery } = settings
  const need = (field: string, kinds: readonly Kind[], why: string) =>
    checkField(model, field, kinds, why)
  for (const { field } of identifiers) {
    need(field, ['string'], 'identifiers')
    checkUnique(model, field, 'identifiers')
  }
  need(names.password, ['string'], 'passwords')
  need(
    names.role,
    [roles.multiple ? 'list' : 'string'],
    roles.multiple ? 'roles.multiple' : 'roles',
  )
  need(names.passwordChangedAt, ['date'], 'password changes')
  if (paths.has('login') || paths.has('changePassword')) {
    need(names.failedLoginAttempts, ['number'], 'lockout')
    need(names.lockedUntil, ['date'], 'lockout')
  }
  if (canReset(settings)) {
    need(names.otpHash, ['string'], 'one-time codes')
    need(names.otpPurpose, ['string'], 'one-time codes')
    need(names.otpExpiresAt, ['date'], 'one-time codes')
    need(names.otpAttempts, ['number'], 'one-time codes')
    if (delivery.mail) need(delivery.toField.email, ['string'], 'mail.toField')
    if (delivery.sms) need(delivery.toField.sms, ['string'], 'sms.toField')
  }
  if (refresh) need(names.refreshTokens, ['list'], 'refresh.enabled')
  if (settings.disabledField) need(settings.disabledField, ['boolean'], 'fields.disabled')
  for (const { name, idField } of providers.values()) {
    need(idField, ['string'], `social.${name}`)
    checkUnique(model, idField, `social.${name}`)
  }
  for (const secret of SECRETS) {
    const field = names[secret]
    const shown = model.shape.fields.has(field) && !isHidden(model, field)
    if (shown && secret !== 'passwordChangedAt') {
      fail(
        `'${field}' of the model '${model.name}' is a secret: take it from userFields(), or name it in the model's 'hidden'`,
      )
    }
  }
}

/** Whether codes can be sent, so that passwords can be reset. */
export function canReset({ delivery, paths }: AuthSettings): boolean {
  const sends = delivery.deliver ?? delivery.mail ?? delivery.sms
  return sends !== undefined && (paths.has('forgotPassword') || paths.has('resetPassword'))
}

/** The stored fields that only the auth routes write. */
export function guardedFields(settings: AuthSettings): readonly string[] {
  const { model, names, providers } = settings
  const ids = [...providers.values()].map(({ idField }) => idField)
  const fields = [...SECRETS.map((name) => names[name]), names.role, ...ids]
  return [...new Set(fields)].filter((field) => model.shape.fields.has(field))
}

/** Refuses lists that would let clients write what only the auth routes write. */
export function checkWritableLists(settings: AuthSettings): void {
  const { model, registerFields, updateFields, visibleFields = [] } = settings
  const guarded = guardedFields(settings)
  for (const [option, fields] of Object.entries({ registerFields, updateFields })) {
    for (const field of fields) {
      if (guarded.includes(field) || isForbiddenKey(field)) {
        fail(`'${option}' names '${field}', which no client may write`)
      }
    }
  }
  for (const [option, fields] of Object.entries({ registerFields, updateFields, visibleFields })) {
    for (const field of fields) {
      if (!model.shape.fields.has(field)) {
        fail(`'${option}' names '${field}', which is no field of '${model.name}'`)
      }
    }
  }
  for (const field of visibleFields) {
    if (isHidden(model, field)) fail(`'visibleFields' names '${field}', which is hidden`)
  }
}

function checkField(model: Model, field: string, kinds: readonly Kind[], why: string): void {
  const shape = model.shape.fields.get(field)
  if (!shape) {
    fail(`the model '${model.name}' needs the field '${field}' for ${why}; userFields() gives it`)
  }
  if (!kinds.includes(shape.kind)) {
    fail(`'${field}' of the model '${model.name}' must be a ${kinds.join(' or ')}, for ${why}`)
  }
}

/** Unique field sets are sparse on every store, so that accounts without the field do not clash. */
function checkUnique(model: Model, field: string, why: string): void {
  if (!model.unique.some((set) => set.length === 1 && set[0] === field)) {
    fail(`the model '${model.name}' needs '${field}' in its 'unique', for ${why}`)
  }
}

/** Models whose fields another router protects, such as accounts, whose roles and secrets are never writable by default. */

import type { Fail } from '../../model/option-rules.ts'
import type { Fields } from '../../ports/store.ts'
import { demandsRole } from '../engine/guards.ts'
import type { Models } from '../engine/models.ts'
import { resolveAccess } from './access.ts'
import type { RouterOptions } from './options.ts'
import type { Resource } from './resource.ts'

/** The fields that a router lets clients write, while its options are resolved. */
export interface WritableSets {
  readonly create: Set<string>
  readonly update: Set<string>
}

/**
 * Refuses a router of a protected model that has no `allowedFields`, names a protected field there, or lifts them by
 * `legacyMode`. Removes the protected fields from an operation that uses the default.
 */
export function withoutProtected(
  host: Models,
  options: RouterOptions<Fields>,
  writable: WritableSets,
  fail: Fail,
): void {
  const { model, allowedFields, legacyMode } = options
  const guarded = host.protectedFields(model)
  if (!guarded) return
  if (legacyMode) fail(`'legacyMode' cannot be used with '${model.name}', which holds accounts`)
  if (!allowedFields) {
    fail(`'allowedFields' must name the writable fields of '${model.name}', which holds accounts`)
  }
  for (const operation of ['create', 'update'] as const) {
    const named = Array.isArray(allowedFields) || Object.hasOwn(allowedFields, operation)
    for (const field of guarded) {
      if (named && writable[operation].has(field)) checkNamed(host, options, field, fail)
      else writable[operation].delete(field)
    }
  }
}

/** Refuses the protected `field` in `allowedFields`, unless it is the role, behind guards that demand a role. */
function checkNamed(host: Models, options: RouterOptions<Fields>, field: string, fail: Fail): void {
  const { model } = options
  const named = `'allowedFields' names '${field}' of '${model.name}', which holds accounts`
  if (!host.roleFields(model)?.has(field)) {
    fail(
      `${named}: only the auth routes write it. Take it out; identifiers change by 'updateFields' of the auth router`,
    )
  }
  if (!writersHaveRole(options, fail)) {
    fail(
      `${named}: put requireAuth and requireRole(…) into 'middlewares', or into 'access.create' and 'access.update'`,
    )
  }
}

/** Whether every route that writes values is only for users with certain roles. */
function writersHaveRole(options: RouterOptions<Fields>, fail: Fail): boolean {
  const { create, update } = resolveAccess(options, fail)
  return [create, update].every(
    (guards) => !guards || demandsRole([...(options.middlewares ?? []), ...guards]),
  )
}

/** The fields that a client may write, before start-up has removed those that another router protects. */
export function writableNow(
  { host, model, writable }: Pick<Resource, 'host' | 'model' | 'writable'>,
  operation: keyof WritableSets,
): readonly string[] {
  const fields = writable[operation]
  const guarded = host.protectedFields(model)
  if (!guarded || ![...guarded].every((field) => fields.has(field))) return [...fields]
  return [...fields].filter((field) => !guarded.has(field))
}

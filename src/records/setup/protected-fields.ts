/**
 * Models whose fields another router protects, such as accounts, whose roles and secrets are never writable by default.
 *
 * @module
 */

import type { Fail } from '../../model/option-rules.ts'
import type { Fields } from '../../ports/store.ts'
import type { Models } from '../engine/host.ts'
import type { RouterOptions } from './options.ts'
import type { Resource } from './resource.ts'

/** The fields that a router lets clients write, while its options are resolved. */
export interface WritableSets {
  readonly create: Set<string>
  readonly update: Set<string>
}

/**
 * Refuses a router of a protected model that has no `allowedFields`, or lifts them by `legacyMode`. Removes the
 * protected fields from an operation that uses the default.
 */
export function withoutProtected(
  host: Models,
  { model, allowedFields, legacyMode }: RouterOptions<Fields>,
  writable: WritableSets,
  fail: Fail,
): void {
  const guarded = host.protectedFields(model)
  if (!guarded) return
  if (legacyMode) fail(`'legacyMode' cannot be used with '${model.name}', which holds accounts`)
  if (!allowedFields) {
    fail(`'allowedFields' must name the writable fields of '${model.name}', which holds accounts`)
  }
  for (const operation of ['create', 'update'] as const) {
    const named = Array.isArray(allowedFields) || Object.hasOwn(allowedFields, operation)
    if (!named) for (const field of guarded) writable[operation].delete(field)
  }
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

/**
 * What bodies say. Credentials are strings only, and nothing that a store might read as an operator; of the fields of a user,
 * clients write those in `registerFields` and `updateFields`.
 */

import { type BodyLimits, readJson } from '../../http/body.ts'
import type { ApiRequest } from '../../http/request.ts'
import { isFields } from '../../model/writable.ts'
import { any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { cleaned } from '../../records/rules/policy.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { withoutForeignUrls } from '../../uploads/file-values.ts'
import { MAX_BYTES, sizeOf } from '../keys/passwords.ts'
import { invalidFormat } from '../refusals.ts'
import type { Identifier } from '../setup/identifiers.ts'
import type { NamedAccount } from '../setup/method.ts'
import type { IdentifierKind } from '../setup/normal-forms.ts'
import type { AccountParts } from './proven-identifiers.ts'

/** A body's members; a body that is not an object has none. */
export async function readBody(limits: BodyLimits, request: ApiRequest): Promise<Fields> {
  const body = await readJson(request, limits)
  return isFields(body) ? body : {}
}

/**
 * The string of a credential; undefined if it is missing, null if it is a number, boolean or null, which count as
 * wrong. An object or list is a 400.
 */
export function credential(body: Fields, name: string): string | null | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (typeof value === 'object' && value !== null) throw invalidFormat()
  return value === undefined || typeof value === 'string' ? value : null
}

/** Same for an identifier; one that is too long for a field is refused before anything else happens. */
export function identifierString(body: Fields, name: string): string | null | undefined {
  const value = credential(body, name)
  if (typeof value === 'string' && sizeOf(value) > MAX_BYTES) throw invalidFormat()
  return value
}

/** A body's value for an identifier, under its stored name or its own name. */
export function valueFor(body: Fields, { field, name }: Identifier): string | null | undefined {
  const value = identifierString(body, field)
  return name === field ? value : (value ?? identifierString(body, name))
}

/** An e-mail address never counts as a user name, even if a user name looks like it. */
const PRECEDENCE: Readonly<Record<IdentifierKind, number>> = { email: 0, phone: 1, name: 2 }

/**
 * The account named by a body's `identifier`, or by an identifier under a field's name; undefined if the body has
 * neither.
 */
export function namedAccount(
  { users, identifiers: proven, settings }: AccountParts,
  body: Fields,
): NamedAccount | undefined {
  const { identifiers } = settings
  const text = identifierString(body, 'identifier')
  const named = identifiers.map((identifier) => [identifier, valueFor(body, identifier)] as const)
  const values =
    text === undefined || text === ''
      ? named.filter(([, value]) => value !== undefined && value !== '')
      : identifiers.map((identifier) => [identifier, text] as const)
  if (values.length === 0) return undefined
  const wanted = values.flatMap(([identifier, typed]) => {
    const value = typeof typed === 'string' ? identifier.normalize(typed) : undefined
    const { field, kind } = identifier
    return value?.isWellFormed()
      ? { field, rank: PRECEDENCE[kind], value, isTyped: value === typed }
      : []
  })
  const key = wanted[0]?.value ?? values[0]?.[1] ?? undefined
  // Of two names, the one that was typed: normalizers may fold another person's into it.
  wanted.sort((a, b) => a.rank - b.rank || +b.isTyped - +a.isTyped)
  const filters = wanted.map(({ field, value }): Filter => ({ op: 'eq', field, value }))
  return {
    key,
    async find() {
      const limit = Math.max(1, filters.length)
      const found = await users.engine.stored.find({ filter: any(filters), sort: [], limit })
      for (const { field, value } of wanted) {
        const user = found.find((record) => record[field] === value)
        if (user && proven.mayIdentify(user, field)) return user
      }
      return undefined
    },
  }
}

/**
 * The part of `body` that `allowed` names, without forbidden keys at any level. The rest is dropped, and so are values
 * of file fields that `stored`, the account to be changed, does not hold.
 */
export function chosenFields(
  { files, host, settings }: AccountParts,
  body: Fields,
  allowed: readonly string[],
  request: ApiRequest,
  stored?: Fields,
): Fields {
  const chosen: Fields = {}
  for (const field of allowed) {
    if (!Object.hasOwn(body, field)) continue
    chosen[field] = cleaned(field, body[field], settings.model.input)
  }
  return withoutForeignUrls(files.namedIn(chosen), chosen, stored, keysBelow(request, host.files))
}

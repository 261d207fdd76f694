/**
 * Reads credentials from bodies: strings only, and nothing that a store might read as an operator.
 *
 * @module
 */

import { readJson } from '../../http/body.ts'
import type { ApiRequest } from '../../http/request.ts'
import { isFields } from '../../model/writable.ts'
import { any, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { MAX_BYTES, sizeOf } from '../keys/passwords.ts'
import { invalidFormat } from '../refusals.ts'
import type { Identifier } from '../setup/identifiers.ts'
import type { IdentifierKind } from '../setup/normal-forms.ts'
import { opens } from './ways-in.ts'

/** A body's members; a body that is not an object has none. */
export async function readBody({ host }: AuthInstance, request: ApiRequest): Promise<Fields> {
  const body = await readJson(request, host)
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
  return identifierString(body, field) ?? identifierString(body, name)
}

/**
 * The account that a body names, as a key for queues: the same however it is typed, and whether or not it exists.
 * Undefined if the body names none.
 */
export function typedAccount({ settings }: AuthInstance, body: Fields): string | undefined {
  const { identifiers } = settings
  const texts = [
    identifierString(body, 'identifier'),
    ...identifiers.map((identifier) => valueFor(body, identifier)),
  ]
  const text = texts.find((one) => typeof one === 'string' && one !== '')
  if (typeof text !== 'string') return undefined
  const normal = identifiers
    .map(({ normalize }) => normalize(text))
    .find((one) => one !== undefined)
  return normal ?? text
}

/** An e-mail address never counts as a user name, even if a user name looks like it. */
const PRECEDENCE: Readonly<Record<IdentifierKind, number>> = { email: 0, phone: 1, name: 2 }

/**
 * Finds the account named by a body's `identifier`, or by an identifier under a field's name; undefined if the body has
 * neither. An identifier that opens nothing (see ways-in.ts) finds nothing.
 */
export function accountFinder(
  auth: AuthInstance,
  body: Fields,
): (() => Promise<Fields | undefined>) | undefined {
  const { identifiers } = auth.settings
  const text = identifierString(body, 'identifier')
  const named = identifiers.map((identifier) => [identifier, valueFor(body, identifier)] as const)
  const values =
    text === undefined || text === ''
      ? named.filter(([, value]) => value !== undefined && value !== '')
      : identifiers.map((identifier) => [identifier, text] as const)
  if (values.length === 0) return undefined
  const wanted = values
    .map(([identifier, value]) => ({
      field: identifier.field,
      rank: PRECEDENCE[identifier.kind],
      typed: value,
      value: typeof value === 'string' ? identifier.normalize(value) : undefined,
    }))
    .filter(({ value }) => value?.isWellFormed())
    // Of two names, the one that was typed: normalizers may fold another person's into it.
    .sort((a, b) => a.rank - b.rank || +(a.value !== a.typed) - +(b.value !== b.typed))
  const filters = wanted.map(
    ({ field, value }): Filter => ({ op: 'eq', field, value: value as string }),
  )
  return async () => {
    const found = await auth.engine.stored.find({
      filter: any(filters),
      sort: [],
      limit: Math.max(1, filters.length),
    })
    for (const { field, value } of wanted) {
      const user = found.find((record) => record[field] === value)
      if (user && opens(auth, user, field)) return user
    }
    return undefined
  }
}

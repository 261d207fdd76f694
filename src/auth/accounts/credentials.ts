/**
 * What bodies say. Credentials are strings only, and nothing that a store might read as an operator; of the fields of a user,
 * clients write those in `registerFields` and `updateFields`.
 */

import { readJson } from '../../http/body/body.ts'
import { invalidFields } from '../../http/errors/refusals.ts'
import { upgraded } from '../../model/versions/upgrade.ts'
import { all, any, type Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { cleaned } from '../../records/rules/policy.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { withoutForeignUrls } from '../../uploads/file-values.ts'
import type { Asked, Auth, AuthRequest } from '../instance/instance.ts'
import { MAX_BYTES } from '../keys/passwords.ts'
import * as refuse from '../refusals.ts'
import { type Identifier, type IdentifierKind, misreadAs } from '../setup/identifiers.ts'
import type { NamedAccount } from '../setup/method.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** A body's members; a body that is not an object has none. */
export async function readBody({ request, host }: Asked): Promise<Fields> {
  const body = (await readJson(request, host)) ?? {}
  return typeof body === 'object' && !Array.isArray(body) ? (body as Fields) : {}
}

/**
 * The string of a credential; undefined if it is missing, null if it is a number, boolean or null, which count as
 * wrong. An object or list is a 400.
 */
export function credential(body: Fields, name: string): string | null | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (typeof value === 'object' && value !== null) throw refuse.invalidFormat()
  return value === undefined || typeof value === 'string' ? value : null
}

/** Same for an identifier; one that is too long for a field is refused before anything else happens. */
export function identifierString(body: Fields, name: string): string | null | undefined {
  const value = credential(body, name)
  if (typeof value === 'string' && sizeOf(value) > MAX_BYTES) throw refuse.invalidFormat()
  return value
}

export function newPassword(
  value: string | null | undefined,
  field: string,
  least: number,
): string {
  if (typeof value !== 'string' || value === '') throw refuse.passwordRequired()
  // This many units are enough: a string of a megabyte is not taken apart.
  if ([...value.slice(0, 2 * least)].length < least) throw refuse.passwordTooShort(least)
  checkPasswordSize(value)
  // A lone surrogate has no UTF-8 form: different passwords would have the same hash.
  if (!value.isWellFormed()) throw invalidFields({ [field]: 'Invalid Unicode text.' })
  return value
}

export function checkPasswordSize(password: string): void {
  if (sizeOf(password) > MAX_BYTES) throw refuse.passwordTooLong(MAX_BYTES)
}

/** The length of `text` in UTF-8 bytes, or more than any limit without counting. */
export function sizeOf(text: string): number {
  return text.length > MAX_BYTES ? text.length : new TextEncoder().encode(text).length
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
 * neither. With `own`, the id of the signed-in user, theirs, unless the body names another one.
 */
export function namedAccount(
  { users, identifiers: proven, settings }: Auth,
  body: Fields,
  own?: string,
): NamedAccount | undefined {
  const { identifiers } = settings
  const text = identifierString(body, 'identifier')
  const named = identifiers.map((identifier) => [identifier, valueFor(body, identifier)] as const)
  const values =
    text === undefined || text === ''
      ? named.filter(([, value]) => value !== undefined && value !== '')
      : identifiers.map((identifier) => [identifier, text] as const)
  if (values.length === 0) {
    return own === undefined ? undefined : { key: own, find: () => users.byId(own) }
  }
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
        if (!user || !proven.mayIdentify(user, field)) continue
        return own === undefined || own === String(user._id) ? user : undefined
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
  { files, host, settings, request }: AuthRequest,
  body: Fields,
  allowed: readonly string[],
  stored?: Fields,
): Fields {
  const chosen: Fields = {}
  for (const field of allowed) {
    if (!Object.hasOwn(body, field)) continue
    chosen[field] = cleaned(field, body[field], settings.model.input)
  }
  if (files.names.length === 0) return chosen
  const held = stored && upgraded(settings.model, stored)
  return withoutForeignUrls(files.namedIn(chosen), chosen, held, keysBelow(request, host.files))
}

/** `chosen` with its identifiers in their normal form. Throws a 400 for one that has none. */
export function withNormalIdentifiers({ identifiers }: AuthSettings, chosen: Fields): Fields {
  const changes = { ...chosen }
  for (const { field, normalize } of identifiers) {
    const text = identifierString(chosen, field)
    if (typeof text !== 'string') continue
    const normal = normalize(text)
    if (normal === undefined) throw invalidFields({ [field]: 'Invalid value.' })
    changes[field] = normal
  }
  return changes
}

/** Refuses new user names, in their normal form, that read as an e-mail address or a phone number. Throws a 400. */
export function checkNames({ identifiers }: AuthSettings, values: Fields): void {
  for (const identifier of identifiers) {
    const name = values[identifier.field]
    const kind = typeof name === 'string' ? misreadAs(identifier, name, identifiers) : undefined
    if (kind) throw invalidFields({ [identifier.field]: `Must not read as ${kind}.` })
  }
}

/**
 * The identifiers among `values` that identify, under another kind, another account than the one with `id`: identifiers
 * share one namespace, or one user's phone number could block another user's name at sign-in.
 *
 * Stores enforce unique indexes per field, none across fields. So the value is written first and looked up afterwards,
 * and removed again if another account has it under another kind. If two writers do this at the same moment, each looks
 * after both have written, so at least one of them sees the other: they never both keep it.
 */
export async function takenElsewhere(
  { users, identifiers: proven, settings }: Auth,
  values: Fields,
  id: string,
): Promise<readonly string[]> {
  const { identifiers } = settings
  const others = identifiers.flatMap(({ field: wanted }) => {
    const value = values[wanted]
    if (typeof value !== 'string') return []
    return identifiers.flatMap(({ field, normalize }) => {
      const forms = field === wanted ? [] : [value, normalize(value) ?? value]
      return [...new Set(forms)].map((form) => ({ wanted, field, form }))
    })
  })
  if (others.length === 0) return []
  const filters = others.map(({ field, form }): Filter => ({ op: 'eq', field, value: form }))
  const filter = all([{ op: 'ne', field: '_id', value: id }, any(filters)])
  const found = await users.engine.stored.find({ filter, sort: [], limit: others.length })
  const taken = others.filter(({ field, form }) =>
    found.some((user) => user[field] === form && proven.mayIdentify(user, field)),
  )
  return [...new Set(taken.map(({ wanted }) => wanted))]
}

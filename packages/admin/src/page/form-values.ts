/**
 * The values of a form: from a record, and back to what a write takes.
 *
 * @module
 */

import type { Values } from './data.ts'
import { type Field, isFilled } from './fields.ts'
import { session } from './kept.ts'

/** Stands for what somebody has typed that is no value yet, as half a date. It is never sent. */
export const UNREADABLE = Symbol('unreadable')

/** Where in a value there is something that cannot be read. */
function unreadable(value: unknown, path = ''): readonly string[] {
  if (value === UNREADABLE) return [path]
  if (!(value instanceof Object)) return []
  return Object.entries(value).flatMap(([name, one]) => unreadable(one, `${path}.${name}`))
}

const isUnreadable = (value: unknown) => unreadable(value).length > 0

/** The values of a form over a record; over none, with the defaults of its fields. */
export function valuesOf(fields: readonly Field[], record: Values | undefined): Values {
  return Object.fromEntries(
    fields.map((field) => [field.name, record ? flat(field, record[field.name]) : begun(field)]),
  )
}

/** A value with the ids of its references, which may be filled in. */
function flat(field: Field | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => flat(field?.item, one))
  if (!(value instanceof Object)) return value ?? undefined
  if (field?.kind === 'reference') return '_id' in value ? value._id : value
  const inside = (field?.fields ?? []).filter(({ name }) => name in value)
  return { ...value, ...valuesOf(inside, value as Values) }
}

/** What a field begins with. */
export function begun({ kind, isRequired, isNullable, standard, initial, fields }: Field): unknown {
  if (standard !== undefined) return standard
  if (initial?.length === 1) return initial[0]
  if (!isRequired) return undefined
  if (isNullable) return null
  if (kind === 'object') return members(fields)
  return kind === 'boolean' ? false : kind === 'list' ? [] : undefined
}

/** What an element of a list begins with. */
export function begunItem(item: Field): unknown {
  return begun(item) ?? (['text', 'long', 'email', 'url'].includes(item.kind) ? '' : null)
}

/** What an object begins with, which shows so before it is there: a box without its mark is `false`. */
function members(fields: readonly Field[] = []): Values {
  const entries = fields.map((field) => [field.name, begun(field)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The value of a field after its control has given `value`: one that is emptied is null if it has to be there. */
export function taken({ isRequired, isNullable }: Field, value: unknown): unknown {
  const plain = cleared(value)
  return plain === undefined && isRequired && isNullable ? null : plain
}

/** An object after one of its fields has become `value`. What is empty is not in it, and it is not there if it has nothing else. */
export function withMember(field: Field, whole: unknown, inner: Field, value: unknown): unknown {
  const before = whole instanceof Object ? whole : members(field.fields)
  const after = { ...before, [inner.name]: taken(inner, value) }
  const entries = Object.entries(after).filter(([, one]) => one !== undefined)
  return entries.length === 0 && !isFilled(field) ? undefined : Object.fromEntries(entries)
}

/** The fields whose values differ. Files are always new. */
export function changesOf(before: Values, after: Values): Values {
  return Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) =>
        hasFile(value) || isUnreadable(value) || textOf(value) !== textOf(before[name]),
    ),
  )
}

export const hasFile = (value: unknown) => [value].flat().some((one) => one instanceof Blob)

function textOf(value: unknown): string {
  return JSON.stringify(cleared(value) ?? null)
}

/** What is empty in a form is not there for the server. */
function cleared(value: unknown): unknown {
  return value === '' ? undefined : value
}

/** What a write takes: null where a change empties a field. */
export function sent(changes: Values, isNew: boolean): Values {
  const entries = Object.entries(changes).map(([name, value]) => [name, cleared(value)])
  return Object.fromEntries(
    isNew
      ? entries.filter(([, value]) => value !== undefined)
      : entries.map(([name, value]) => [name, value ?? null]),
  )
}

/** What is wrong with `values` before they are sent, with a sentence at each place: nothing where there must be something, or what cannot be read. */
export function wrong(
  fields: readonly Field[],
  values: Values,
  t: (name: 'required' | 'unreadable') => string,
): Readonly<Record<string, string>> {
  const written = fields.filter(({ name }) => name in values)
  return Object.fromEntries([
    ...lacking(written, values).map((path) => [path, t('required')]),
    ...fields.flatMap(({ name }) =>
      unreadable(values[name], name).map((path) => [path, t('unreadable')]),
    ),
  ])
}

/** Where there is nothing in `values`, though there must be something: in objects and lists inside, too. */
function lacking(fields: readonly Field[], values: Values, at = ''): readonly string[] {
  return fields.flatMap((field) => lackingIn(field, values[field.name], `${at}${field.name}`))
}

function lackingIn(field: Field, given: unknown, path: string): readonly string[] {
  const value = cleared(given) ?? null
  const { item, fields = [] } = field
  if (value === null) return isFilled(field) ? [path] : []
  if (!Array.isArray(value)) {
    return value instanceof Object ? lacking(fields, value as Values, `${path}.`) : []
  }
  if (!item || item.kind === 'json') return []
  return value.flatMap((one, index) => lackingIn(item, one, `${path}.${index}`))
}

const KEY = 'fieldgate-admin.draft'

/** Changes that were not saved, and the version of the record that they were made to. */
export interface Kept {
  readonly changes: Values
  readonly version?: string | undefined
}

/** Keeps changes in the tab over a reload. */
export class Draft {
  readonly #key: string

  /** `place` names the user and the resource. */
  constructor(place: string, id: string | undefined) {
    this.#key = `${KEY}/${place}/${id ?? ''}`
  }

  read(): Kept | undefined {
    const text = session.getItem(this.#key)
    if (text === null) return undefined
    const { changes, version } = JSON.parse(text) as Kept
    return { changes, version: version ?? undefined }
  }

  /** Keeps changes, but for files and what cannot be read. Without any, nothing is kept. */
  keep(changes: Values, version: string | undefined): void {
    const plain = Object.entries(changes).filter(
      ([, value]) => !hasFile(value) && !isUnreadable(value),
    )
    if (plain.length === 0) {
      this.drop()
      return
    }
    // What is undefined was emptied.
    const kept: Kept = { changes: Object.fromEntries(plain), version }
    session.setItem(
      this.#key,
      JSON.stringify(kept, (_, value) => value ?? null),
    )
  }

  drop(): void {
    session.removeItem(this.#key)
  }
}

/** Ends all drafts, when another user may come. */
export function dropDrafts(): void {
  for (const key of session.names()) {
    if (key.startsWith(KEY)) session.removeItem(key)
  }
}

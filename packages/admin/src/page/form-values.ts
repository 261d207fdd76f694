/**
 * The values of a form: from a record, and back to what a write takes.
 *
 * @module
 */

import type { Values } from './data.ts'
import type { Field } from './fields.ts'

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
    fields.map((field) => [field.name, record ? flat(record[field.name]) : standardOf(field)]),
  )
}

/** A reference that is filled in as its id. */
function flat(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(flat)
  if (value instanceof Object && '_id' in value) return value._id
  return value ?? undefined
}

function standardOf({ kind, isRequired, isNullable, standard, initial }: Field): unknown {
  if (standard !== undefined) return standard
  if (initial?.length === 1) return initial[0]
  if (isRequired && isNullable) return null
  if (kind === 'boolean' && isRequired) return false
  return kind === 'list' && isRequired ? [] : undefined
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
  const lacking = fields.filter(
    ({ name, isRequired, isNullable }) =>
      name in values && isRequired && !isNullable && (cleared(values[name]) ?? null) === null,
  )
  return Object.fromEntries([
    ...lacking.map(({ name }) => [name, t('required')]),
    ...fields.flatMap(({ name }) =>
      unreadable(values[name], name).map((path) => [path, t('unreadable')]),
    ),
  ])
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
    const text = sessionStorage.getItem(this.#key)
    return text === null ? undefined : (JSON.parse(text) as Kept)
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
    sessionStorage.setItem(
      this.#key,
      JSON.stringify(kept, (_, value) => value ?? null),
    )
  }

  drop(): void {
    sessionStorage.removeItem(this.#key)
  }
}

/** Ends all drafts, when another user may come. */
export function dropDrafts(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(KEY)) sessionStorage.removeItem(key)
  }
}

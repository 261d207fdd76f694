/**
 * Records ↔ JSON text: `_id` first, dates as ISO 8601 in UTC with milliseconds, folded shadows beside it.
 *
 * @module
 */

import { fold } from '../../../src/ports/fold.ts'
import { placeOf, type Shape } from '../../../src/ports/shape.ts'
import type { CollectionSchema, Fields, Projection } from '../../../src/ports/store.ts'

/** A record as its JSON text. */
export function textOf(record: Fields): string {
  const { _id, ...fields } = record
  return JSON.stringify({ _id, ...fields })
}

/** A reader of JSON texts for records of a shape; texts without dates are parsed alone. */
export function reviver(shape: Shape): (text: string) => Fields {
  const revive = dates(shape)
  return revive ? (text) => revive(JSON.parse(text)) as Fields : (text) => JSON.parse(text) as Fields
}

/** The folded text of a searchable path: of a list, the JSON list of its elements' folds. */
export function shadowOf(schema: CollectionSchema, path: string, record: Fields): string | null {
  const texts = textsAt(record, path.split('.')).map(fold)
  if (placeOf(schema.shape, path)?.parts.length !== 1) return JSON.stringify(texts)
  return texts[0] ?? null
}

/** A parsed record without what the projection leaves out. */
export function project(record: Fields, select: Projection | undefined): Fields {
  if (!select) return record
  return 'include' in select
    ? chosen(record, ['_id', ...select.include], true)
    : chosen(record, select.exclude, false)
}

type Revive = (value: unknown) => unknown

function dates(shape: Shape): Revive | undefined {
  switch (shape.kind) {
    case 'date':
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list': {
      const element = dates(shape.element)
      return element && ((value) => (Array.isArray(value) ? value.map(element) : value))
    }
    case 'map': {
      const inside = dates(shape.value)
      return inside && ((value) => eachField(value, (_, item) => inside(item)))
    }
    case 'object': {
      const inside = new Map(
        [...shape.fields].flatMap(([field, part]) => {
          const revive = dates(part)
          return revive ? [[field, revive] as const] : []
        }),
      )
      if (inside.size === 0) return undefined
      return (value) => eachField(value, (field, item) => inside.get(field)?.(item) ?? item)
    }
    default:
      return undefined
  }
}

function eachField(value: unknown, change: (field: string, value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = value as Fields
  for (const field of Object.keys(fields)) fields[field] = change(field, fields[field])
  return fields
}

function textsAt(value: unknown, keys: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(item, keys))
  const [key, ...rest] = keys
  if (key === undefined) return typeof value === 'string' ? [value] : []
  return typeof value === 'object' && value !== null ? textsAt((value as Fields)[key], rest) : []
}

function chosen(value: unknown, paths: readonly string[], keep: boolean): Fields {
  if (typeof value !== 'object' || value === null) return value as Fields
  if (Array.isArray(value)) return value.map((item) => chosen(item, paths, keep)) as unknown as Fields
  const result: Fields = {}
  for (const [key, item] of Object.entries(value)) {
    const named = paths.includes(key)
    const inside = paths.filter((path) => path.startsWith(`${key}.`)).map((path) => path.slice(key.length + 1))
    if (inside.length > 0 && !named) result[key] = chosen(item, inside, keep)
    else if (named === keep) result[key] = item
  }
  return result
}

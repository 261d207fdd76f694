/**
 * Records as the table's JSON, and back.
 *
 * @module
 */

import { parseInSlices, stringifyInSlices } from '../../../src/ports/json.ts'
import {
  DATE_AMONG_OTHERS,
  dateOfJson,
  isFor,
  type ObjectShape,
  type Shape,
} from '../../../src/ports/shape.ts'
import { isLarge } from '../../../src/ports/slices.ts'
import type { Fields } from '../../../src/ports/store.ts'

/** `record` as it is stored: `_id` first, before any other name; dates as ISO 8601 with milliseconds. */
export function textOf({ _id, ...fields }: Fields): string {
  const rest = JSON.stringify(fields)
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** `textOf` in slices if the record is large, so that it holds up no other request. */
export async function textInSlices(record: Fields): Promise<string> {
  if (!isLarge(record)) return textOf(record)
  const { _id, ...fields } = record
  const rest = (await stringifyInSlices(fields)) as string
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** Longer JSON is parsed in slices. */
const LONG = 64 * 1024

/** The value of stored JSON; long JSON is parsed in slices. */
export function parsed(text: string): unknown {
  return text.length > LONG ? parseInSlices(text) : JSON.parse(text)
}

/** Parses records of a shape from their JSON; long ones in slices. */
export function readerOf(shape: ObjectShape): (text: string) => Fields | Promise<Fields> {
  const revive = (reviverOf(shape) ?? ((value) => value)) as (value: unknown) => Fields
  return (text) => {
    const value = parsed(text)
    return value instanceof Promise ? value.then(revive) : revive(value)
  }
}

type Revive = (value: unknown) => unknown

/** Turns strings into dates as the shape says, in place; undefined if it has none. */
function reviverOf(shape: Shape): Revive | undefined {
  switch (shape.kind) {
    case 'date':
      if (shape === DATE_AMONG_OTHERS) return dateOfJson
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list':
      return listReviver(shape)
    case 'map': {
      const revive = reviverOf(shape.value)
      return (
        revive &&
        ((value) =>
          revived(
            value,
            (fields) => Object.keys(fields),
            () => revive,
          ))
      )
    }
    case 'object':
      return objectReviver(shape)
    case 'mixed':
      return mixedReviver(shape.inside ?? [])
    default:
      return undefined
  }
}

function listReviver({
  element,
  items = [],
}: Extract<Shape, { kind: 'list' }>): Revive | undefined {
  const rest = reviverOf(element)
  const first = items.map((item) => reviverOf(item) ?? same)
  if (!rest && first.every((revive) => revive === same)) return undefined
  return (value) =>
    Array.isArray(value) ? value.map((one, at) => (first[at] ?? rest ?? same)(one)) : value
}

const same: Revive = (value) => value

/** Of a value that may be anything: what is known of its type. */
function mixedReviver(inside: readonly Shape[]): Revive | undefined {
  const revivers = inside.map((shape) => ({ shape, revive: reviverOf(shape) ?? same }))
  if (revivers.every(({ revive }) => revive === same)) return undefined
  return (value) => (revivers.find(({ shape }) => isFor(shape, value))?.revive ?? same)(value)
}

function objectReviver({ variants, ...shape }: ObjectShape): Revive | undefined {
  if (variants) return variantReviver(variants, objectReviver(shape) ?? same)
  const rest = shape.rest && reviverOf(shape.rest)
  const revivers = new Map<string, Revive>()
  for (const [key, member] of shape.fields) {
    const revive = reviverOf(member)
    if (revive) revivers.set(key, revive)
  }
  if (rest) {
    return (value) =>
      revived(value, Object.keys, (key) => (shape.fields.has(key) ? revivers.get(key) : rest))
  }
  if (revivers.size === 0) return undefined
  const keys = [...revivers.keys()]
  return (value) =>
    revived(
      value,
      () => keys,
      (key) => revivers.get(key),
    )
}

function variantReviver(
  { by, shapes }: NonNullable<ObjectShape['variants']>,
  otherwise: Revive,
): Revive | undefined {
  const revivers = new Map([...shapes].map(([value, shape]) => [value, reviverOf(shape) ?? same]))
  if ([otherwise, ...revivers.values()].every((revive) => revive === same)) return undefined
  return (value) => (revivers.get((value as Fields | null)?.[by]) ?? otherwise)(value)
}

function revived(
  value: unknown,
  keysOf: (fields: Fields) => readonly string[],
  reviverFor: (key: string) => Revive | undefined,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = value as Fields
  for (const key of keysOf(fields)) {
    const revive = Object.hasOwn(fields, key) ? reviverFor(key) : undefined
    if (revive) fields[key] = revive(fields[key])
  }
  return fields
}

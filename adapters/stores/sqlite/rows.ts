/**
 * Records as the table's JSON, and back.
 *
 * @module
 */

import { parseInSlices, stringifyInSlices } from '../../../src/ports/json.ts'
import type { ObjectShape, Shape } from '../../../src/ports/shape.ts'
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
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list': {
      const revive = reviverOf(shape.element)
      return revive && ((value) => (Array.isArray(value) ? value.map(revive) : value))
    }
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
      return shape.inside && reviverOf(shape.inside)
    default:
      return undefined
  }
}

function objectReviver(shape: ObjectShape): Revive | undefined {
  const revivers = new Map<string, Revive>()
  for (const [key, member] of shape.fields) {
    const revive = reviverOf(member)
    if (revive) revivers.set(key, revive)
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

function revived(
  value: unknown,
  keysOf: (fields: Fields) => readonly string[],
  reviverFor: (key: string) => Revive | undefined,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = value as Fields
  for (const key of keysOf(fields)) {
    if (Object.hasOwn(fields, key)) fields[key] = reviverFor(key)?.(fields[key])
  }
  return fields
}

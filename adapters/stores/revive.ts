/**
 * Dates in JSON, which holds them as strings.
 *
 * @module
 */

import type { ObjectShape, Shape } from '../../src/ports/shape.ts'
import type { Fields } from '../../src/ports/store.ts'

/** Changes a value in place if it can, and returns it. */
export type Revive = (value: unknown) => unknown

/** Turns strings into dates as the shape says, in place; undefined if it has none. */
export function reviverOf(shape: Shape): Revive | undefined {
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

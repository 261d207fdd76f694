/**
 * Values that come from JSON: dates become dates again, and members of objects stand in the model's order, because
 * `jsonb` keeps them in an order of its own.
 *
 * @module
 */

import { setMember } from '../../../src/ports/members.ts'
import type { ObjectShape, Shape } from '../../../src/ports/shape.ts'
import type { Fields } from '../../../src/ports/store.ts'

/** Returns the value that JSON stands for. May change what it is given. */
export type Restore = (value: unknown) => unknown

/** How values of a shape come back; undefined if JSON holds them as they are. */
export function restoreOf(shape: Shape): Restore | undefined {
  switch (shape.kind) {
    case 'date':
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list': {
      const restore = restoreOf(shape.element)
      return restore && ((value) => (Array.isArray(value) ? value.map(restore) : value))
    }
    case 'map': {
      const restore = restoreOf(shape.value)
      return restore && ((value) => (isObject(value) ? eachMember(value, () => restore) : value))
    }
    case 'object':
      return restoreObject(shape)
    case 'mixed':
      return shape.inside && restoreOf(shape.inside)
    default:
      return undefined
  }
}

function restoreObject({ fields }: ObjectShape): Restore {
  const members = [...fields].map(([name, member]) => [name, restoreOf(member)] as const)
  const byName = new Map(members)
  return (value) => {
    if (!isObject(value)) return value
    const ordered: Fields = {}
    for (const [name] of members)
      if (Object.hasOwn(value, name)) setMember(ordered, name, value[name])
    for (const name of Object.keys(value)) {
      if (!fields.has(name)) setMember(ordered, name, value[name])
    }
    return eachMember(ordered, (name) => byName.get(name))
  }
}

/** `object` with its members restored in place. */
function eachMember(object: Fields, restoreFor: (name: string) => Restore | undefined): Fields {
  for (const [name, member] of Object.entries(object)) {
    const restore = restoreFor(name)
    if (restore) setMember(object, name, restore(member))
  }
  return object
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Values that come from JSON: dates become dates again, and members of objects stand in the model's order, because
 * `jsonb` keeps them in an order of its own.
 *
 * @module
 */

import { setMember } from '../../../src/ports/members.ts'
import {
  DATE_AMONG_OTHERS,
  dateOfJson,
  isFor,
  type ObjectShape,
  type Shape,
} from '../../../src/ports/shape.ts'
import type { Fields } from '../../../src/ports/store.ts'

/** Returns the value that JSON stands for. May change what it is given. */
export type Restore = (value: unknown) => unknown

/** How values of a shape come back; undefined if JSON holds them as they are. */
export function restoreOf(shape: Shape): Restore | undefined {
  switch (shape.kind) {
    case 'date':
      if (shape === DATE_AMONG_OTHERS) return dateOfJson
      return (value) => (typeof value === 'string' ? new Date(value) : value)
    case 'list':
      return restoreList(shape)
    case 'map': {
      const restore = restoreOf(shape.value)
      return restore && ((value) => (isObject(value) ? eachMember(value, () => restore) : value))
    }
    case 'object':
      return restoreObject(shape)
    case 'mixed':
      return shape.inside && restoreMixed(shape.inside)
    default:
      return undefined
  }
}

function restoreList({
  element,
  items = [],
}: Extract<Shape, { kind: 'list' }>): Restore | undefined {
  const rest = restoreOf(element)
  const first = items.map((item) => restoreOf(item) ?? same)
  if (!rest && first.every((restore) => restore === same)) return undefined
  return (value) =>
    Array.isArray(value) ? value.map((one, at) => (first[at] ?? rest ?? same)(one)) : value
}

const same: Restore = (value) => value

/** Of a value that may be anything: what is known of its type. */
function restoreMixed(inside: readonly Shape[]): Restore {
  const restores = inside.map((shape) => ({ shape, restore: restoreOf(shape) ?? same }))
  return (value) => (restores.find(({ shape }) => isFor(shape, value))?.restore ?? same)(value)
}

function restoreVariant(
  { by, shapes }: NonNullable<ObjectShape['variants']>,
  otherwise: Restore,
): Restore {
  const restores = new Map([...shapes].map(([value, shape]) => [value, restoreOf(shape) ?? same]))
  return (value) => ((isObject(value) ? restores.get(value[by]) : undefined) ?? otherwise)(value)
}

function restoreObject({ variants, ...shape }: ObjectShape): Restore {
  if (variants) return restoreVariant(variants, restoreObject(shape))
  const { fields } = shape
  const rest = shape.rest && restoreOf(shape.rest)
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
    return eachMember(ordered, (name) => (fields.has(name) ? byName.get(name) : rest))
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

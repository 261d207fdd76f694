/**
 * The shape of a place that several schemas describe: what is known of each type of its values.
 *
 * @module
 */

import { DATE_AMONG_OTHERS, FREE, type Shape } from '../ports/shape.ts'
import { dateFrom } from './cast.ts'

/** Which side of a schema: the values that it accepts, or those that it produces and a record stores. */
export type Side = 'input' | 'output'

/** Any JSON value. */
export const mixed: { readonly kind: 'mixed' } = { kind: 'mixed' }

/** The shapes of a few values that the schema names: a string beside them may be something else. */
const namedTexts: Shape = { kind: 'string' }
const namedValues: Shape = { kind: 'mixed' }

/** The shape of the values that a schema names. */
export function sameKind(values: readonly unknown[]): Shape {
  // Like `.nullable()`, an option that is null or undefined says nothing about the others' type.
  const some = values.filter((value) => value !== null && value !== undefined)
  const [kind, ...others] = new Set(some.map((value) => typeof value))
  if (some.some((value) => typeof value === 'string' && dateFrom(value))) {
    return others.length === 0 ? { kind: 'string' } : mixed
  }
  if (others.length > 0) return namedValues
  if (kind === 'string') return namedTexts
  return kind === 'number' || kind === 'boolean' ? { kind } : mixed
}

/** The shape of values that have all the same; `mixed` if they don't. */
export function sameShape(shapes: readonly Shape[]): Shape {
  const [first, ...rest] = shapes
  if (!first || !isSimple(first) || !rest.every((shape) => isLike(shape, first))) return mixed
  // Integers beside other numbers are numbers, and named strings beside others are strings.
  const isWide = (shape: Shape) => shape !== namedTexts && !('isInteger' in shape)
  return [first, ...rest].find(isWide) ?? first
}

function isSimple(shape: Shape): shape is Scalar {
  return ['string', 'number', 'boolean', 'date'].includes(shape.kind)
}

function isLike(shape: Shape, { kind, stored }: Scalar): boolean {
  return shape.kind === kind && (shape as Scalar).stored === stored
}

type Scalar = Extract<Shape, { isInteger?: true }>

/**
 * The shape of values that have one of `shapes`. `known` are shapes that say nothing beside others, as of an intersection
 * whose other side allows anything. Records are stored as they are; for an incoming write, objects are read as one object
 * with the fields of all.
 */
export function unionShape(all: readonly Shape[], side: Side, known: readonly Shape[] = []): Shape {
  const shapes = all.filter((shape) => !known.includes(shape))
  const [only, ...others] = new Set(shapes)
  if (only && others.length === 0) return only
  if (shapes.includes(FREE)) return FREE
  const same = sameShape(shapes)
  if (same !== mixed) return same
  const parts = shapes
    .flatMap((shape) => (shape.kind === 'mixed' && shape.inside ? shape.inside : [shape]))
    .filter((shape) => shape !== namedValues)
  // What may be anything may be any of the others.
  if (parts.some(({ kind }) => kind === 'mixed')) return mixed
  const objects = parts.filter(isObject)
  const object = mergedObjects(objects, side, known)
  if (side === 'input' && object && objects.length === parts.length) return object
  const inside = [textAmong(parts), mergedLists(parts.filter(isList), side), object]
  return { ...mixed, inside: inside.filter((shape) => shape !== undefined) }
}

/** Where any string is taken as it is, none becomes a date. */
function textAmong(shapes: readonly Shape[]): Shape | undefined {
  if (shapes.some((shape) => isText(shape) && shape !== namedTexts)) return { kind: 'string' }
  return shapes.some(({ kind }) => kind === 'date') ? DATE_AMONG_OTHERS : undefined
}

function isText({ kind }: Shape): boolean {
  return kind === 'string' || kind === 'id'
}

/** The shape of a list. */
export type ListShape = Extract<Shape, { kind: 'list' }>

function mergedLists(lists: readonly ListShape[], side: Side): ListShape | undefined {
  const [only, ...others] = lists
  if (!only || others.length === 0) return only
  const longest = Math.max(...lists.map(({ items = [] }) => items.length))
  const at = (index: number) => lists.map(({ items, element }) => items?.[index] ?? element)
  return {
    kind: 'list',
    element: unionShape(at(longest), side),
    items: Array.from({ length: longest }, (_, index) => unionShape(at(index), side)),
  }
}

type AnyObject = Extract<Shape, { kind: 'object' | 'map' }>

function mergedObjects(
  objects: readonly AnyObject[],
  side: Side,
  known: readonly Shape[],
): AnyObject | undefined {
  const [only, ...others] = objects
  if (!only || others.length === 0) return only
  const at = (name?: string) =>
    objects.flatMap((one) => {
      if (one.kind === 'map') return [one.value]
      return (name !== undefined && one.fields.get(name)) || (one.rest ?? [])
    })
  const names = new Set(objects.flatMap((one) => ('fields' in one ? [...one.fields.keys()] : [])))
  const rest = at()
  const kept = new Set(objects.flatMap((one) => ('kept' in one ? [...(one.kept ?? [])] : [])))
  return {
    kind: 'object',
    fields: new Map([...names].map((name) => [name, unionShape(at(name), side, known)])),
    ...(rest.length > 0 && { open: true, rest: unionShape(rest, side, known) }),
    kept,
  }
}

function isObject(shape: Shape): shape is AnyObject {
  return shape.kind === 'object' || shape.kind === 'map'
}

function isList(shape: Shape): shape is ListShape {
  return shape.kind === 'list'
}

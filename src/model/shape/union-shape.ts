/** The shape of a place that several schemas describe: what is known of each type of its values. */

import type { $ZodType } from 'zod/v4/core'
import { DATE_AMONG_OTHERS, FREE, type ObjectShape, type Shape } from '../../ports/store/shape.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { dateAmongOthers } from '../values/cast.ts'

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
  if (some.some((value) => typeof value === 'string' && dateAmongOthers(value) !== value)) {
    return others.length === 0 ? { kind: 'string' } : mixed
  }
  if (!kind || others.length > 0) return namedValues
  if (kind === 'string') return namedTexts
  return kind === 'number' || kind === 'boolean' ? { kind } : mixed
}

/** The shape of values that have all the same; `mixed` if they don't. */
export function sameShape(shapes: readonly Shape[]): Shape {
  const [first, ...rest] = shapes
  if (first && rest.every((shape) => shape === first)) return first
  const isLike = (shape: Shape) =>
    shape.kind === first?.kind && (shape as Scalar).stored === (first as Scalar).stored
  if (!first || !isSimple(first) || !rest.every(isLike)) return mixed
  // Integers beside other numbers are numbers, and named strings beside others are strings.
  const isWide = (shape: Shape) => shape !== namedTexts && !('isInteger' in shape)
  return [first, ...rest].find(isWide) ?? first
}

function isSimple(shape: Shape): shape is Scalar {
  return ['string', 'number', 'boolean', 'date'].includes(shape.kind)
}

type Scalar = Extract<Shape, { isInteger?: true }>

interface Merge {
  readonly side: Side
  /** Whether values have all of the shapes, and not one of them. */
  readonly areBoth: boolean
}

/** The shape of values of several shapes. Records are as they are; of input, objects are one with the fields of all. */
export function merged(all: readonly Shape[], merge: Merge): Shape {
  const { side, areBoth } = merge
  // One that allows anything says nothing beside another.
  const shapes = areBoth ? all.filter((shape) => shape !== mixed) : all
  if (shapes.length === 0) return mixed
  if (shapes.includes(FREE)) return FREE
  // A store may keep anything where one of the schemas allows it.
  const same = side === 'input' || shapes.length === all.length ? sameShape(shapes) : mixed
  if (same !== mixed) return same
  const parts = shapes
    .flatMap((shape) => (shape.kind === 'mixed' && shape.inside ? shape.inside : [shape]))
    .filter((shape) => shape !== namedValues)
  // What may be anything may be any of the others.
  if (parts.some(({ kind }) => kind === 'mixed')) return mixed
  const objects = parts.filter((one) => one.kind === 'object' || one.kind === 'map')
  const object = withVariants(objects, merge)
  if (side === 'input' && object && objects.length === parts.length) return object
  const lists = parts.filter((one) => one.kind === 'list')
  const inside = [textAmong(parts), mergedLists(lists, side), object]
  return { ...mixed, inside: inside.filter((shape) => shape !== undefined) }
}

/** Where any string is taken as it is, none becomes a date. */
function textAmong(shapes: readonly Shape[]): Shape | undefined {
  const texts = shapes.filter(({ kind }) => kind === 'string' || kind === 'id')
  if (texts.some((shape) => shape !== namedTexts)) return { kind: 'string' }
  return shapes.some(({ kind }) => kind === 'date') ? DATE_AMONG_OTHERS : undefined
}

export type ListShape = Extract<Shape, { kind: 'list' }>

function mergedLists(lists: readonly ListShape[], side: Side): ListShape | undefined {
  const [only, ...others] = lists
  if (!only || others.length === 0) return only
  const merge = { side, areBoth: false }
  const longest = Math.max(...lists.map(({ items = [] }) => items.length))
  const at = (index: number) => lists.map(({ items, element }) => items?.[index] ?? element)
  return {
    kind: 'list',
    element: merged(at(longest), merge),
    items: Array.from({ length: longest }, (_, index) => merged(at(index), merge)),
  }
}

type AnyObject = Extract<Shape, { kind: 'object' | 'map' }>

/** The values of the members that may tell an object from others, as its schema names them. */
type Tags = ReadonlyMap<string, ReadonlySet<unknown>>

/** By shape, how to look up its tags: a schema that refers to itself has them once it is complete. */
const tagsOf = new WeakMap<Shape, () => Tags>()

/** By the shape of what may be one of several objects, those objects. */
const optionsOf = new WeakMap<Shape, readonly AnyObject[]>()

/** By the first of several objects, what was made of them: schemas that refer to themselves ask again at each level. */
const mergesOf = madeOnce((_: Shape) => new Map<string, AnyObject>())

/** The most pairs of objects where values have both of two shapes, each of which may be one of several. */
const MAX_PAIRS = 100

/** Remembers which values of its members tell an object of this shape from others. */
export function tagged(shape: ObjectShape, { _zod }: $ZodType): ObjectShape {
  tagsOf.set(shape, () => new Map(Object.entries(_zod.propValues ?? {})))
  return shape
}

/** The shape of one of several objects, or of one that is all of them. */
function withVariants(objects: readonly AnyObject[], merge: Merge): AnyObject | undefined {
  const [first, ...others] = objects
  if (!first || others.length === 0) return first
  const merges = mergesOf(first)
  const key = [merge.side, merge.areBoth, ...others.map(idOf)].join()
  const shape = merges.get(key) ?? newObject(objects, merge)
  merges.set(key, shape)
  return shape
}

let lastId = 0

const idOf = madeOnce((_: Shape) => ++lastId)

function newObject(objects: readonly AnyObject[], merge: Merge): AnyObject {
  const object = mergedObjects(objects, merge)
  const options = merge.areBoth ? pairs(objects, merge) : objects.flatMap(optionsIn)
  const variants = variantsOf(options, merge)
  const shape = { ...object, ...(variants && { variants }) }
  optionsOf.set(shape, options)
  return shape
}

function optionsIn(object: AnyObject): readonly AnyObject[] {
  return optionsOf.get(object) ?? [object]
}

function tagsIn(object: AnyObject): Tags {
  return tagsOf.get(object)?.() ?? new Map()
}

/** What a value may be that has both shapes. */
function pairs(objects: readonly AnyObject[], merge: Merge): readonly AnyObject[] {
  const [some = [], others = []] = objects.map(optionsIn)
  if (some.length * others.length > MAX_PAIRS) return []
  return some.flatMap((one) =>
    others.map((other) => {
      const both = mergedObjects([one, other], merge)
      tagsOf.set(both, () => new Map([...tagsIn(one), ...tagsIn(other)]))
      return both
    }),
  )
}

/** Tells objects apart by the member whose values, named by the schemas, do so best. */
function variantsOf(options: readonly AnyObject[], { side }: Merge): ObjectShape['variants'] {
  const tags = options.map(tagsIn)
  const names = new Set(tags.flatMap((tag) => [...tag.keys()]))
  const [best] = [...names]
    .map((by) => ({ by, ...groupsBy(by, options, tags) }))
    .filter(({ told, largest }) => told > 1 && largest < options.length)
    .sort((one, other) => other.told - one.told || one.largest - other.largest)
  if (!best) return undefined
  const merge = { side, areBoth: false }
  const shapes = new Map<unknown, Shape>()
  for (const [value, group] of best.groups) shapes.set(value, withVariants(group, merge) as Shape)
  // Clients may send a number or a boolean as a string, which is cast.
  for (const [value, shape] of [...shapes]) {
    if (!shapes.has(String(value))) shapes.set(String(value), shape)
  }
  return { by: best.by, shapes }
}

/** The objects that each value of a member leaves; one that names no values there may have any. */
function groupsBy(by: string, options: readonly AnyObject[], tags: readonly Tags[]) {
  const groups = new Map<unknown, readonly AnyObject[]>()
  for (const value of tags.flatMap((tag) => [...(tag.get(by) ?? [])])) {
    if (groups.has(value)) continue
    const group = options.filter((_, at) => tags[at]?.get(by)?.has(value) ?? true)
    groups.set(value, group)
  }
  return {
    groups,
    told: tags.filter((tag) => tag.has(by)).length,
    largest: Math.max(...[...groups.values()].map(({ length }) => length)),
  }
}

function mergedObjects(objects: readonly AnyObject[], merge: Merge): AnyObject {
  const [only, ...others] = objects
  if (only && others.length === 0) return only
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
    fields: new Map([...names].map((name) => [name, merged(at(name), merge)])),
    ...(rest.length > 0 && { open: true, rest: merged(rest, merge) }),
    kept,
  }
}

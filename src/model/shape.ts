/**
 * What a zod schema says about stored values: the neutral shape that casting, filters and adapters read.
 *
 * @module
 */

import {
  type $ZodNumberDef,
  type $ZodObjectDef,
  type $ZodTupleDef,
  type $ZodType,
  type $ZodTypes,
  util,
} from 'zod/v4/core'
import { FREE, type ObjectShape, type Shape } from '../ports/shape.ts'
import { referenceOf } from './reference.ts'
import { lastDefined } from './registry.ts'
import { hasFreeNames, isKept, storedValuesOf } from './stored.ts'

const mixed = { kind: 'mixed' } as const

/** Schemas may recurse; below this depth values are not looked into. */
const MAX_DEPTH = 12

/** Which side of a schema: the values that it accepts, or those that it produces and a record stores. */
export type Side = 'input' | 'output'

/** By schema, then by side and depth: a schema that refers to itself in many places is visited once for each. */
const known = new WeakMap<$ZodType, Map<string, Shape>>()

/**
 * The shape of the values at one side of `schema`. Throws a `TypeError` naming `path` for a type that JSON
 * cannot carry.
 */
function shapeOf(schema: $ZodType, side: Side, path: string, depth: number): Shape {
  if (depth > MAX_DEPTH) return mixed
  const shapes = known.get(schema) ?? new Map<string, Shape>()
  known.set(schema, shapes)
  const at = `${side} ${depth}`
  const shape = shapes.get(at) ?? newShape(schema, side, path, depth)
  shapes.set(at, shape)
  return shape
}

function newShape(schema: $ZodType, side: Side, path: string, depth: number): Shape {
  const marked = markedShape(schema)
  if (marked) return marked
  const { def } = (schema as $ZodTypes)._zod
  // A wrapper is not a level of its own.
  const inner = (next: $ZodType): Shape => shapeOf(next, side, path, depth)
  switch (def.type) {
    case 'string':
    case 'template_literal':
      return { kind: 'string' }
    case 'number':
      return isInteger(def) ? { kind: 'number', isInteger: true } : { kind: 'number' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'date':
      return { kind: 'date' }
    case 'enum':
      return sameKind(util.getEnumValues(def.entries))
    case 'literal':
      return sameKind(def.values)
    case 'object':
      return { ...objectShape(def.shape, side, path, depth), ...restOf(def) }
    case 'array':
      return { kind: 'list', element: shapeOf(def.element, side, `${path}[]`, depth + 1) }
    case 'record':
      return {
        kind: 'map',
        value: inner(def.valueType),
        ...(hasFreeNames(schema) && { freeNames: true }),
      }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return inner(def.innerType)
    case 'lazy':
      return shapeOf(def.getter(), side, path, depth + 1)
    case 'pipe': {
      const end = side === 'input' ? def.in : def.out
      return isTransform(end) ? mixed : inner(end)
    }
    case 'union':
      return unionShape(def.options.filter(isSomething).map(inner), side)
    case 'intersection':
      return unionShape([inner(def.left), inner(def.right)], side)
    case 'tuple':
      return side === 'input'
        ? tupleShape(def, inner)
        : { ...mixed, inside: tupleShape(def, inner) }
    case 'bigint':
    case 'symbol':
    case 'function':
    case 'promise':
    case 'map':
    case 'set':
    case 'file':
    case 'nan':
    case 'never':
      throw new TypeError(`field '${path}': a record cannot hold the type '${def.type}'`)
    default:
      return mixed
  }
}

/** What an object's shape says of keys that it does not declare. */
function restOf({ catchall }: $ZodObjectDef): Pick<ObjectShape, 'open' | 'rest'> {
  if (!catchall || catchall._zod.def.type === 'never') return {}
  return { open: true, rest: markedShape(catchall) }
}

/** The shape of a schema that `ref()` or `storedAs()` marked. */
function markedShape(schema: $ZodType): Shape | undefined {
  const ref = referenceOf(schema)
  if (ref !== undefined) return referenceShape(ref)
  const { storedAs: stored, castText: cast } = storedValuesOf(schema)
  if (stored === 'objectId') return { kind: 'id', idType: stored }
  if (stored === 'any') return FREE
  return stored && { kind: cast ? 'string' : 'number', stored, ...(cast && { cast }) }
}

/** Whether a number is checked to be an integer: `z.int()`, or `z.number().int()`. */
function isInteger({ checks = [], ...own }: $ZodNumberDef): boolean {
  const formats = [own, ...checks.map((check) => check._zod.def)] as readonly { format?: string }[]
  return formats.some(({ format }) => format?.endsWith('int') || format?.endsWith('int32'))
}

/** The shape of an object with declared keys. */
export function objectShape(
  fields: Readonly<Record<string, $ZodType>>,
  side: Side,
  path = '',
  depth = 0,
): ObjectShape {
  const shapes = Object.entries(fields).map(
    ([key, schema]) =>
      [key, shapeOf(schema, side, path === '' ? key : `${path}.${key}`, depth + 1)] as const,
  )
  const kept = Object.keys(fields).filter((key) => isKept(fields[key] as $ZodType))
  return {
    kind: 'object',
    fields: new Map(shapes),
    ...(kept.length > 0 && { kept: new Set(kept) }),
  }
}

/** The target may be defined after the reference, so its id format is looked up when needed. */
function referenceShape(ref: string): Shape {
  return {
    kind: 'id',
    ref,
    get idType() {
      return lastDefined(ref)?.idType ?? 'objectId'
    },
    get stored() {
      const id = lastDefined(ref)?.shape.fields.get('_id')
      return id?.kind === 'id' ? id.stored : undefined
    },
  }
}

function sameKind(values: readonly unknown[]): Shape {
  // Like `.nullable()`, an option that is null or undefined says nothing about the others' type.
  const some = values.filter((value) => value !== null && value !== undefined)
  const [kind, ...others] = new Set(some.map((value) => typeof value))
  const one = others.length === 0 && (kind === 'string' || kind === 'number' || kind === 'boolean')
  return one ? { kind } : mixed
}

function sameShape(shapes: readonly Shape[]): Shape {
  const [first, ...rest] = shapes
  if (!first || !isSimple(first) || !rest.every((shape) => isLike(shape, first))) return mixed
  // Integers beside other numbers are numbers.
  return rest.find((shape) => shape.kind === 'number' && !shape.isInteger) ?? first
}

function isSimple(shape: Shape): shape is Scalar {
  return ['string', 'number', 'boolean', 'date'].includes(shape.kind)
}

function isLike(shape: Shape, { kind, stored }: Scalar): boolean {
  return shape.kind === kind && (shape as Scalar).stored === stored
}

type Scalar = Extract<Shape, { isInteger?: true }>

/** Records are stored as they are. For an incoming write, objects are read as one object with the fields of all. */
function unionShape(shapes: readonly Shape[], side: Side): Shape {
  const [only, ...others] = new Set(shapes)
  if (only && others.length === 0) return only
  // In an open object, a member that only another object declares may have any type.
  const objects = shapes.filter((shape) => shape.kind === 'object').filter(({ open }) => !open)
  const areObjects = only && objects.length === shapes.length
  if (shapes.includes(FREE)) return FREE
  if (!areObjects) return sameShape(shapes)
  if (side === 'output') return { ...mixed, inside: unionShape(shapes, 'input') }
  const names = new Set(objects.flatMap(({ fields }) => [...fields.keys()]))
  const merged = [...names].map((name) => {
    const found = objects
      .map(({ fields }) => fields.get(name))
      .filter((shape) => shape !== undefined)
    return [name, unionShape(found, side)] as const
  })
  const kept = new Set(objects.flatMap((object) => [...(object.kept ?? [])]))
  return { kind: 'object', fields: new Map(merged), kept }
}

function tupleShape({ items, rest }: $ZodTupleDef, inner: (schema: $ZodType) => Shape): Shape {
  return { kind: 'list', element: sameShape([...items, ...(rest ? [rest] : [])].map(inner)) }
}

function isSomething(schema: $ZodType): boolean {
  return !['null', 'undefined'].includes(schema._zod.def.type)
}

function isTransform(schema: $ZodType): boolean {
  return schema._zod.def.type === 'transform'
}

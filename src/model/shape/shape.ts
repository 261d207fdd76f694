/** What a zod schema says about stored values: the neutral shape that casting, filters and adapters read. */

import type { $ZodNumberDef, $ZodObjectDef, $ZodTupleDef, $ZodType, $ZodTypes } from 'zod/v4/core'
import { FREE, type ObjectShape, type Shape } from '../../ports/store/shape.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { catchallOf, wrappedIn } from '../parts.ts'
import { referenceOf, referredModel } from './reference.ts'
import { isMarked, storedValuesOf } from './stored.ts'
import {
  type ListShape,
  merged,
  mixed,
  type Side,
  sameKind,
  sameShape,
  tagged,
} from './union-shape.ts'

/** Schemas may recurse; below this depth values are not looked into. */
const MAX_DEPTH = 12

/** By schema, then by side and depth: a schema that refers to itself in many places is visited once for each. */
const shapesOf = madeOnce((_: $ZodType) => new Map<string, Shape>())

/** The shape of the values at one side of `schema`. Throws a `TypeError` that names `path` for what JSON can't carry. */
function shapeOf(schema: $ZodType, side: Side, path: string, depth: number): Shape {
  if (depth > MAX_DEPTH) return mixed
  const shapes = shapesOf(schema)
  const at = `${side} ${depth}`
  const shape = shapes.get(at) ?? markedShape(schema) ?? newShape(schema, side, path, depth)
  shapes.set(at, shape)
  return shape
}

function newShape(schema: $ZodType, side: Side, path: string, depth: number): Shape {
  const { def } = (schema as $ZodTypes)._zod
  const wrapped = wrappedIn(schema)
  // Other wrappers are not a level of their own.
  if (wrapped) return shapeOf(wrapped, side, path, depth + Number(def.type === 'lazy'))
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
      return sameKind([...(schema._zod.values ?? [])])
    case 'literal':
      return sameKind(def.values)
    case 'object':
      return tagged(wholeObject(def, side, path, depth), schema)
    case 'array':
      return { kind: 'list', element: shapeOf(def.element, side, `${path}[]`, depth + 1) }
    case 'record':
      return {
        kind: 'map',
        value: inner(def.valueType),
        ...(isMarked(schema, 'freeNames') && { freeNames: true }),
      }
    case 'pipe': {
      const end = side === 'input' ? def.in : def.out
      return end._zod.def.type === 'transform' ? mixed : inner(end)
    }
    case 'union':
      return merged(def.options.filter(isSomething).map(inner), { side, areBoth: false })
    case 'intersection':
      return merged([inner(def.left), inner(def.right)], { side, areBoth: true })
    case 'tuple':
      return side === 'input'
        ? tupleShape(def, inner)
        : { ...mixed, inside: [tupleShape(def, inner)] }
    case 'bigint':
    case 'symbol':
    case 'function':
    case 'promise':
    case 'map':
    case 'set':
    case 'file':
    case 'nan':
    case 'never':
      return noShape(def.type, side, path)
    default:
      return mixed
  }
}

/** A write may make something else of what a record cannot hold. */
function noShape(type: string, side: Side, path: string): Shape {
  if (side === 'input') return mixed
  throw new TypeError(`field '${path}': a record cannot hold the type '${type}'`)
}

/** The shape of an object, and of keys that it does not declare. */
function wholeObject(def: $ZodObjectDef, side: Side, path: string, depth: number): ObjectShape {
  const object = objectShape(def.shape, side, path, depth)
  const catchall = catchallOf(def)
  return catchall
    ? { ...object, open: true, rest: shapeOf(catchall, side, `${path}.*`, depth + 1) }
    : object
}

/** The shape of a schema that `ref()` or `storedAs()` marked. */
function markedShape(schema: $ZodType): Shape | undefined {
  const ref = referenceOf(schema)
  if (ref !== undefined) return referenceShape(schema, ref)
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
  const kept = Object.keys(fields).filter((key) => isMarked(fields[key] as $ZodType, 'kept'))
  return {
    kind: 'object',
    fields: new Map(shapes),
    ...(kept.length > 0 && { kept: new Set(kept) }),
  }
}

/** The target may be defined after the reference, so its id format is looked up when needed. */
function referenceShape(schema: $ZodType, ref: string): Shape {
  return {
    kind: 'id',
    ref,
    get idType() {
      return referredModel(schema)?.idType ?? 'objectId'
    },
    get stored() {
      const id = referredModel(schema)?.shape.fields.get('_id')
      return id?.kind === 'id' ? id.stored : undefined
    },
  }
}

function tupleShape({ items, rest }: $ZodTupleDef, inner: (schema: $ZodType) => Shape): ListShape {
  const shapes = items.map(inner)
  return { kind: 'list', element: rest ? inner(rest) : sameShape(shapes), items: shapes }
}

function isSomething(schema: $ZodType): boolean {
  return !['null', 'undefined'].includes(schema._zod.def.type)
}

/** What an adapter needs to know about a model: which values are dates, ids, objects or lists, and where. */

/**
 * The format of a model's ids: 24 hexadecimal digits, or a UUID, both in lower case; or the key of an adopted table, an
 * integer or any string.
 */
export type IdType = 'objectId' | 'uuid' | 'integer' | 'text'

/**
 * A type of BSON that JSON has no value for. A record holds a decimal or a 64-bit integer as a string of its digits, a
 * UUID as a string in lower case, bytes in base64, and a double as a number.
 */
export type StoredForm = 'decimal128' | 'long' | 'uuid' | 'binary' | 'double'

/**
 * The shape of a stored value. `mixed` is any JSON value; its `inside` has the shape of the strings, lists and objects among
 * its values, so far as it is known: where a string may be a date, that of a date. `map` is an object
 * with arbitrary keys; if it has `freeNames`, clients may write those that the server keeps elsewhere, as `_id`. `isInteger` says of numbers that they are integers. `stored` is the type that a store of BSON keeps
 * a value as; other stores keep what the record holds, and `cast` makes that of what a client
 * sends; undefined if the type cannot hold it. `items` has the shapes of the first elements of a list, where they differ.
 */
export type Shape =
  | {
      readonly kind: 'string' | 'number' | 'boolean' | 'date'
      readonly isInteger?: true
      readonly stored?: StoredForm
      readonly cast?: (value: unknown) => string | undefined
    }
  | { readonly kind: 'mixed'; readonly inside?: readonly Shape[] }
  | {
      readonly kind: 'id'
      readonly idType: IdType
      readonly ref?: string
      readonly stored?: 'uuid' | undefined
    }
  | ObjectShape
  | { readonly kind: 'list'; readonly element: Shape; readonly items?: readonly Shape[] }
  | { readonly kind: 'map'; readonly value: Shape; readonly freeNames?: boolean }

/** The shape of an object with declared keys. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Shape>
  /** Whether it may hold other keys too. */
  readonly open?: boolean
  /** The shape of their values. */
  readonly rest?: Shape | undefined
  /** The declared keys that a client may write although the server keeps such keys elsewhere, as `_id`. */
  readonly kept?: ReadonlySet<string>
  /** One of several objects: the member that tells which, and the shape of each by its value there. */
  readonly variants?: { readonly by: string; readonly shapes: ReadonlyMap<unknown, Shape> }
}

/**
 * Any JSON value, in which clients may write every key that is safe: those that the server keeps elsewhere too, as `_id`,
 * and names with a dot or a dollar sign.
 */
export const FREE: Shape = { kind: 'mixed' }

/** A date where other values may be too. Only strings of the form of ISO 8601 are taken for one. */
export const DATE_AMONG_OTHERS: Shape = { kind: 'date' }

/** Where a dotted path leads. */
export interface Place {
  /** The shape of one value there: the element's shape if the path ends on a list. */
  readonly shape: Shape
  /**
   * The path, cut at each list that it ends on or passes through: `['tags', '']` for a list of strings,
   * `['addresses', 'city']` for objects in a list, `['name']` if there is no list.
   */
  readonly parts: readonly string[]
}

/** Where `path` leads in `shape`, or undefined if it leads nowhere. No path leads into a `mixed` value. */
export function placeOf(shape: ObjectShape, path: string): Place | undefined {
  const parts: string[] = []
  let part = ''
  let at: Shape = shape
  for (const key of path.split('.')) {
    const next: Shape | undefined = at.kind === 'object' ? at.fields.get(key) : undefined
    if (!next) return undefined
    part = part === '' ? key : `${part}.${key}`
    at = next
    if (at.kind === 'list') {
      parts.push(part)
      part = ''
      at = at.element
      if (at.kind === 'list') return undefined
    }
  }
  return { shape: at, parts: [...parts, part] }
}

/** Whether a path leads to something that the shape declares, or into an open part of it. */
export function hasPath(shape: Shape, keys: readonly string[]): boolean {
  if (keys.includes('')) return false
  const [key, ...rest] = keys
  if (key === undefined) return true
  switch (shape.kind) {
    case 'list':
      return hasPath(shape.element, keys)
    case 'map':
      return hasPath(shape.value, rest)
    case 'object': {
      const inside = shape.fields.get(key)
      return inside ? hasPath(inside, rest) : shape.open === true
    }
    default:
      return shape.kind === 'mixed'
  }
}

/**
 * What a shape says of `value`: of one that may be anything, what is known of values of its type; of one of several
 * objects, the shape of the one that it is.
 */
export function shapeFor(shape: Shape | undefined, value: unknown): Shape | undefined {
  if (shape?.kind === 'mixed' && shape !== FREE) {
    const inside = shape.inside?.find((one) => isFor(one, value))
    return shapeFor(inside, value)
  }
  if (shape?.kind !== 'object' || !shape.variants || !isObject(value)) return shape
  const { by, shapes } = shape.variants
  const variant = shapes.get(value[by])
  return variant ? shapeFor(variant, value) : shape
}

/** The shape of `value`, the member or element `key` of a value of this shape; undefined if none is known. */
export function shapeInside(
  shape: Shape | undefined,
  key: string | number,
  value: unknown,
): Shape | undefined {
  if (shape === FREE) return FREE
  if (typeof key === 'number') {
    return shape?.kind === 'list' ? shapeFor(shape.items?.[key] ?? shape.element, value) : undefined
  }
  if (shape?.kind === 'map') return shapeFor(shape.value, value)
  return shape?.kind === 'object' ? shapeFor(shape.fields.get(key) ?? shape.rest, value) : undefined
}

/** Whether one of the shapes inside a `mixed` value is that of `value`. */
export function isFor({ kind }: Shape, value: unknown): boolean {
  if (Array.isArray(value)) return kind === 'list'
  if (value instanceof Date) return kind === 'date'
  if (typeof value === 'string') return kind === 'date' || kind === 'string'
  return isObject(value) && (kind === 'object' || kind === 'map')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const DATE_TEXT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The date that a store of JSON has kept as a string; any other value as it is. For places where others may be too. */
export function dateOfJson(value: unknown): unknown {
  return typeof value === 'string' && DATE_TEXT.test(value) ? new Date(value) : value
}

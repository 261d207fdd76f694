/**
 * What an adapter needs to know about a model: which values are dates, ids, objects or lists, and where.
 *
 * @module
 */

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
 * The shape of a stored value. `mixed` is any JSON value; its `inside` may say where it holds dates. `map` is an object
 * with arbitrary keys; if it has `freeNames`, clients may write those that the server keeps elsewhere, as `_id`. `isInteger` says of numbers that they are integers. `stored` is the type that a store of BSON keeps
 * a value as; other stores keep what the record holds, and `cast` makes that of what a client
 * sends; undefined if the type cannot hold it.
 */
export type Shape =
  | {
      readonly kind: 'string' | 'number' | 'boolean' | 'date'
      readonly isInteger?: true
      readonly stored?: StoredForm
      readonly cast?: (value: unknown) => string | undefined
    }
  | { readonly kind: 'mixed'; readonly inside?: Shape }
  | {
      readonly kind: 'id'
      readonly idType: IdType
      readonly ref?: string
      readonly stored?: 'uuid' | undefined
    }
  | ObjectShape
  | { readonly kind: 'list'; readonly element: Shape }
  | { readonly kind: 'map'; readonly value: Shape; readonly freeNames?: boolean }

/** The shape of an object with declared keys. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Shape>
  /** Whether it may hold other keys too. */
  readonly open?: boolean
  /** The shape of their values, if it is `FREE`. */
  readonly rest?: Shape | undefined
  /** The declared keys that a client may write although the server keeps such keys elsewhere, as `_id`. */
  readonly kept?: ReadonlySet<string>
}

/**
 * Any JSON value, in which clients may write every key that is safe: those that the server keeps elsewhere too, as `_id`,
 * and names with a dot or a dollar sign.
 */
export const FREE: Shape = { kind: 'mixed' }

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

/** The shape of the member `key` of an object of this shape; undefined if it has none. */
export function memberShape(shape: Shape | undefined, key: string): Shape | undefined {
  if (shape?.kind === 'map') return valueShape(shape.value)
  if (shape?.kind === 'object') return valueShape(shape.fields.get(key) ?? shape.rest)
  return shape === FREE ? FREE : undefined
}

/** The shape of the elements of a list of this shape; undefined if it has none. */
export function elementShape(shape: Shape | undefined): Shape | undefined {
  if (shape?.kind === 'list') return valueShape(shape.element)
  return shape === FREE ? FREE : undefined
}

/** The shape of a value, or what is known of one that may be anything. */
function valueShape(shape: Shape | undefined): Shape | undefined {
  return shape?.kind === 'mixed' && shape !== FREE ? shape.inside : shape
}

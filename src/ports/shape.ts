/**
 * What an adapter has to know of a model: which values are dates, ids, objects or lists, and where.
 *
 * @module
 */

/** How a model's ids look: 24 hexadecimal digits, or a UUID; both in lower case. */
export type IdType = 'objectId' | 'uuid'

/**
 * The shape of a stored value. `mixed` is any JSON value, of which `inside` may say where dates stand; `map` is an object
 * with free keys.
 */
export type Shape =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'date' }
  | { readonly kind: 'mixed'; readonly inside?: Shape }
  | { readonly kind: 'id'; readonly idType: IdType; readonly ref?: string }
  | ObjectShape
  | { readonly kind: 'list'; readonly element: Shape }
  | { readonly kind: 'map'; readonly value: Shape }

/** The shape of an object with declared keys. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Shape>
  /** Whether it holds other keys as well. */
  readonly open?: boolean
}

/** What a dotted path leads to. */
export interface Place {
  /** The shape of one value there: a list's element shape where the path ends on a list. */
  readonly shape: Shape
  /**
   * The path cut at each list that it ends on or passes through: `['tags']` and one part more, empty,
   * for a list of strings; `['addresses', 'city']` for objects in a list; `['name']` where there is no list.
   */
  readonly parts: readonly string[]
}

/** Where `path` leads in `shape`, or undefined where it leads nowhere; a `mixed` value has no inside. */
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

/** The schemas inside a schema, by their places. */

import type { $ZodObjectDef, $ZodType, $ZodTypes } from 'zod/v4/core'

/** The most schemas visited; a function that makes a new schema at each level has no end. */
const MAX_PARTS = 1000

/** Where schemas hold other schemas. Nothing else is read: reading a default may call a function of your app. */
const PARTS = [
  'innerType',
  'element',
  'in',
  'out',
  'left',
  'right',
  'keyType',
  'valueType',
  'rest',
  'catchall',
  'options',
  'items',
] as const

/** A schema, the member names that lead to it, and the part that holds it. */
export interface Part {
  readonly schema: $ZodType
  readonly path: string
  readonly within?: Part
}

/**
 * `schema` and every schema inside it, each once; with a `path`, once at each place that is not inside itself. Call this when
 * the schema is used, because what it refers to may be declared after it. `rest` is true if there were too many to visit them all.
 */
export function partsIn(
  schema: $ZodType,
  path = '',
): { readonly parts: readonly Part[]; readonly rest: boolean } {
  const parts: Part[] = [{ schema, path }]
  const seen = new Map([[schema, new Set([path])]])
  for (const part of parts) {
    if (parts.length > MAX_PARTS) return { parts, rest: true }
    for (const inner of partsOf(part)) {
      const paths = seen.get(inner.schema)
      if (paths && (path === '' || paths.has(inner.path) || isInside(inner))) continue
      seen.set(inner.schema, (paths ?? new Set()).add(inner.path))
      parts.push(inner)
    }
  }
  return { parts, rest: false }
}

/** Whether a part is inside one of the same schema. */
function isInside({ schema, within }: Part): boolean {
  for (let at = within; at; at = at.within) if (at.schema === schema) return true
  return false
}

function partsOf(within: Part): Part[] {
  const { schema, path } = within
  const def = schema._zod.def as unknown as Readonly<Record<string, unknown>>
  const parts: Part[] = []
  const add = (one: unknown, at = path): void => {
    if (Array.isArray(one)) for (const each of one) add(each)
    else if (isSchema(one)) parts.push({ schema: one, path: at, within })
  }
  add(wrappedIn(schema))
  for (const name of PARTS) add(def[name])
  for (const [key, one] of Object.entries(def.shape ?? {})) {
    add(one, path === '' ? key : `${path}.${key}`)
  }
  return parts
}

export function isSchema(value: unknown): value is $ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value
}

/** Whether values of schemas of this type hold no others, and are not null. */
export function isPlain(type: string): boolean {
  return ['string', 'template_literal', 'number', 'boolean', 'date', 'enum'].includes(type)
}

/** The schema that is wrapped: what is optional, has a default, is lazy and the like. */
export function wrappedIn({ _zod }: $ZodType): $ZodType | undefined {
  const { def, innerType } = _zod as $ZodTypes['_zod'] & { readonly innerType?: $ZodType }
  // zod keeps the getter's first result; calling the getter again may make another schema.
  if (def.type === 'lazy') return innerType
  if (def.type === 'promise' || def.type === 'success') return undefined
  return 'innerType' in def ? def.innerType : undefined
}

/** `schemas`, and all that describe values at the same place: what they wrap, their options, and one `side` of pipes. */
export function samePlace(schemas: readonly $ZodType[], side: 'in' | 'out'): ReadonlySet<$ZodType> {
  const found = new Set(schemas)
  for (const schema of found) {
    const { def } = (schema as $ZodTypes)._zod
    const wrapped = wrappedIn(schema)
    if (wrapped) found.add(wrapped)
    else if (def.type === 'pipe') found.add(def[side])
    else if (def.type === 'union') for (const option of def.options) found.add(option)
    else if (def.type === 'intersection') found.add(def.left).add(def.right)
  }
  return found
}

/** The schema of the member `name`: its own, or that of the members that the object does not name. */
export function memberOf(def: $ZodObjectDef, name: string): $ZodType | undefined {
  // Every object inherits members such as `toString`.
  return Object.hasOwn(def.shape, name) ? def.shape[name] : catchallOf(def)
}

/** The schema of the members that an object does not name, if it keeps such members. */
export function catchallOf({ catchall }: $ZodObjectDef): $ZodType | undefined {
  return catchall?._zod.def.type === 'never' ? undefined : catchall
}

/** Enforced references: those that `ref()` was given `onDelete` for. */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import type { Fields } from '../ports/store/records.ts'
import { placeOf } from '../ports/store/shape.ts'
import { madeOnce } from '../ports/values/once.ts'
import type { Model } from './model.ts'
import { partsIn } from './parts.ts'
import { type OnDelete, onDeleteOf, referenceOf } from './shape/reference.ts'
import { isFields } from './writable.ts'

/** A field, or the elements of a list, whose ids must exist. */
export interface EnforcedReference {
  readonly path: string
  readonly target: string
  readonly onDelete: OnDelete
  /** What `unset` leaves in place of the id: nothing, null, or the list without the element. */
  readonly emptied: 'absent' | 'null' | 'no element'
  /** Whether the path leads through a list or ends on one. */
  readonly inList: boolean
}

export interface ReferencedId {
  /** Where it is, with the index of each list element: `stops.0.city`. */
  readonly path: string
  readonly id: string
  readonly target: string
}

/** The enforced references of a model. Throws a `TypeError` for one that no filter reaches, or `unset` can't empty. */
export const enforcedReferences: (model: Model) => readonly EnforcedReference[] =
  /* @__PURE__ */ madeOnce((model) =>
    Object.entries(model.fields).flatMap(([field, schema]) =>
      holdsEnforced(schema)
        ? referencesIn(model, schema, { path: field, emptied: undefined, depth: 1 })
        : [],
    ),
  )

/** Below this depth no filter reaches a field. */
const MAX_DEPTH = 50

function holdsEnforced(schema: $ZodType): boolean {
  return partsIn(schema).parts.some((part) => onDeleteOf(part.schema))
}

interface Place {
  readonly path: string
  /** What may be left of the value; undefined if it is required. */
  readonly emptied: EnforcedReference['emptied'] | undefined
  readonly depth: number
}

function referencesIn(model: Model, schema: $ZodType, place: Place): EnforcedReference[] {
  const onDelete = onDeleteOf(schema)
  if (onDelete) return [referenceAt(model, schema, onDelete, place)]
  const { def } = (schema as $ZodTypes)._zod
  const inner = (next: $ZodType, change: Partial<Place> = {}) =>
    referencesIn(model, next, { ...place, depth: place.depth + 1, ...change })
  // A schema may contain itself.
  const known = place.depth > MAX_DEPTH ? undefined : def
  switch (known?.type) {
    case 'optional':
      return inner(known.innerType, {
        emptied: place.emptied === 'no element' ? place.emptied : 'absent',
      })
    case 'nullable':
      return inner(known.innerType, { emptied: place.emptied ?? 'null' })
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'catch':
      return inner(known.innerType)
    case 'array':
      return inner(known.element, { emptied: 'no element' })
    case 'object':
      return Object.entries(known.shape).flatMap(([key, member]) =>
        inner(member, { path: `${place.path}.${key}`, emptied: undefined }),
      )
    default:
      if (holdsEnforced(schema)) unreachable(model, place)
      return []
  }
}

function referenceAt(
  model: Model,
  schema: $ZodType,
  onDelete: OnDelete,
  { path, emptied }: Place,
): EnforcedReference {
  const found = placeOf(model.shape, path)
  if (found?.shape.kind !== 'id') unreachable(model, { path })
  if (onDelete === 'unset' && !emptied) {
    throw new TypeError(
      `Model '${model.name}': '${path}' has onDelete: 'unset', but the field is required. Make it optional or nullable, or use 'restrict' or 'cascade'.`,
    )
  }
  return {
    path,
    target: referenceOf(schema) ?? '',
    onDelete,
    emptied: emptied ?? 'absent',
    inList: (found?.parts.length ?? 0) > 1,
  }
}

function unreachable({ name }: Model, { path }: Pick<Place, 'path'>): never {
  throw new TypeError(
    `Model '${name}': '${path}' has onDelete, which works in fields, objects and lists, but not in unions, records, tuples, lists of lists, or schemas that contain themselves.`,
  )
}

/** The ids that `values`, some fields of a record, have at `reference`. */
export function idsAt(values: Fields, { path, target }: EnforcedReference): ReferencedId[] {
  const [field = '', ...rest] = path.split('.')
  return idsIn(values[field], rest, field).map((found) => ({ ...found, target }))
}

function idsIn(
  value: unknown,
  keys: readonly string[],
  at: string,
): Pick<ReferencedId, 'path' | 'id'>[] {
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => idsIn(element, keys, `${at}.${index}`))
  }
  const [key, ...rest] = keys
  if (key === undefined) return typeof value === 'string' ? [{ path: at, id: value }] : []
  return isFields(value) ? idsIn(value[key], rest, `${at}.${key}`) : []
}

/** `value`, which the top-level field of `reference` has, without the ids in `ids`. */
export function withoutIds(
  value: unknown,
  reference: EnforcedReference,
  ids: ReadonlySet<unknown>,
  [key, ...rest]: readonly string[] = reference.path.split('.').slice(1),
): unknown {
  if (Array.isArray(value)) {
    const isGone = (element: unknown) => key === undefined && ids.has(element)
    const kept = reference.emptied === 'no element' ? value.filter((one) => !isGone(one)) : value
    const keys = key === undefined ? [] : [key, ...rest]
    return kept.map((element) => withoutIds(element, reference, ids, keys))
  }
  if (key === undefined) {
    if (!ids.has(value)) return value
    return reference.emptied === 'null' ? null : undefined
  }
  if (!isFields(value)) return value
  const { [key]: before, ...others } = value
  const after = withoutIds(before, reference, ids, rest)
  return after === undefined ? others : { ...value, [key]: after }
}

/** What a store needs to know about a model. */

import type { $ZodStringDef, $ZodType } from 'zod/v4/core'
import type { SortKey } from '../ports/store/filter.ts'
import { type ObjectShape, placeOf } from '../ports/store/shape.ts'
import type { CollectionSchema, Store } from '../ports/store/store.ts'
import { enforcedReferences } from './enforced-references.ts'
import type { Model } from './model.ts'
import { partsIn } from './parts.ts'
import { formerPaths } from './versions/upgrade.ts'

/** The schema of a model's collection, to which routers add until the store is prepared. */
export interface ModelSchema extends CollectionSchema {
  searchable: readonly string[]
  lists: readonly string[]
}

/** The schema of a model's collection: fields that were renamed are in it under all their names. */
export function collectionSchema(model: Model, name: string = model.collection): ModelSchema {
  const { idType, adopted, declared, absence, unique, renamed, collations, version } = model
  const { exclude, changes } = model
  return {
    name,
    idType,
    ...(adopted && { adopted }),
    shape: withFormer(model.shape, renamed),
    declared,
    absence: new Map([...absence, ...[...renamed.keys()].map((old) => [old, 'missing'] as const)]),
    unique,
    unbounded: unboundedPaths(model),
    ...(collations && { collations }),
    ...(version && { version }),
    ...(exclude && { exclude }),
    ...(changes && { logged: { model: model.name, ...changes } }),
    indexes: indexesOf(model).flatMap((keys) => [keys, ...formerIndexes(keys, renamed)]),
    searchable: [],
    lists: [],
  }
}

/** Adds a path that is searched, or a list that is filtered by; returns false if the schema has it. */
export function addPath(
  schema: ModelSchema,
  to: 'searchable' | 'lists',
  path: string,
  { renamed }: Model,
): boolean {
  if (schema[to].includes(path)) return false
  schema[to] = [...schema[to], path, ...formerPaths(path, renamed)]
  return true
}

/** `schemas`. Throws a `TypeError` for one with a collation that `store` does not follow. */
export function collatedBy<S extends CollectionSchema>(
  { name, collates }: Pick<Store, 'name' | 'collates'>,
  schemas: readonly S[],
): readonly S[] {
  const other = schemas.find(({ collations }) => collations && !collates)
  if (!other) return schemas
  const [set] = other.collations ?? []
  throw new TypeError(
    `the collection '${other.name}' has a unique index of '${set?.fields.join(', ')}' with a collation, which the store '${name}' does not follow`,
  )
}

type Renamed = Model['renamed']

/** The model's indexes, and those by which a removal looks for references, and a write for what it excludes. */
function indexesOf(model: Model): readonly (readonly SortKey[])[] {
  const ends = (model.exclude ?? []).map(({ equal, range: [, to] }) =>
    [...equal, to].map((field) => ({ field, descending: false })),
  )
  const all = [...model.indexes, ...ends]
  const indexes = [...new Map(all.map((keys) => [JSON.stringify(keys), keys])).values()]
  const paths = enforcedReferences(model)
    .filter(({ inList }) => !inList)
    .map(({ path }) => path)
    .filter((path) => !indexes.some(([first]) => first?.field === path))
  return [...indexes, ...paths.map((field) => [{ field, descending: false }])]
}

function withFormer(shape: ObjectShape, renamed: Renamed): ObjectShape {
  if (renamed.size === 0) return shape
  const former = [...renamed].flatMap(([old, now]) => {
    const place = shape.fields.get(now)
    return place ? [[old, place] as const] : []
  })
  return { kind: 'object', fields: new Map([...shape.fields, ...former]) }
}

/** The same index over the earlier names, for the filters that look for both. */
function formerIndexes(keys: readonly SortKey[], renamed: Renamed): SortKey[][] {
  return keys.flatMap((key) =>
    formerPaths(key.field, renamed).map((field) =>
      keys.map((one) => (one === key ? { ...key, field } : one)),
    ),
  )
}

/** The paths in `unique` and `indexes` to strings without a limit: some databases have no room for long ones. */
function unboundedPaths({ shape, fields, unique, indexes }: Model): string[] {
  const paths = new Set([...unique.flat(), ...indexes.flat().map(({ field }) => field)])
  return [...paths].filter((path) => {
    const [first = ''] = path.split('.')
    const field = Object.hasOwn(fields, first) ? (fields[first] as $ZodType) : undefined
    if (!field || placeOf(shape, path)?.shape.kind !== 'string') return false
    const strings = partsIn(field, first).parts.filter(
      (part) => part.path === path && part.schema._zod.def.type === 'string',
    )
    return strings.length > 0 && !strings.some(({ schema }) => isLimited(schema))
  })
}

/** Whether a string has a greatest length, a format, or a pattern of its own. */
function isLimited({ _zod }: $ZodType): boolean {
  const { format, checks = [] } = _zod.def as $ZodStringDef & { readonly format?: string }
  return format !== undefined || checks.some((one) => LIMITS.has(one._zod.def.check))
}

/** A rule of your own may be a limit too, as those of identifiers are. */
const LIMITS: ReadonlySet<string> = new Set([
  'max_length',
  'length_equals',
  'string_format',
  'custom',
])

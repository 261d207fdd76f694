/** Models: one declaration that gives you validation, casting, indexes and TypeScript types. */

import { object } from 'zod/mini'
import type { $ZodObject, $ZodType } from 'zod/v4/core'
import type { SortKey } from '../ports/store/filter.ts'
import { type IdType, type ObjectShape, placeOf, type Shape } from '../ports/store/shape.ts'
import type { AdoptedTable } from '../ports/store/store.ts'
import {
  checkFieldNames,
  conversions,
  isReserved,
  keepMs,
  MODEL_RULES,
  renames,
} from './definition-checks.ts'
import {
  type ByOutput,
  type FieldName,
  type FieldSchemas,
  type Inputs,
  isMixed,
  isScalar,
  type Managed,
  type Model,
  remember,
  SEVERAL_TYPES,
  type SortName,
  type Stamps,
  sortKey,
  type TimesIn,
  type TimestampNames,
  timestampFields,
  timestampsOf,
  type Values,
} from './model.ts'
import { checkOptions, type Fail, failAs } from './option-rules.ts'
import { isSchema } from './parts.ts'
import { collectionName } from './plural.ts'
import { modelRules, type RuleOptions } from './rules.ts'
import { objectShape } from './shape/shape.ts'
import { isMarked } from './shape/stored.ts'
import type { Side } from './shape/union-shape.ts'
import { leadsSomewhere, noSuchField } from './suggest.ts'
import { absences } from './values/absence.ts'
import { refinementsOf } from './values/refinements.ts'
import { declaredRecord } from './versions/declared.ts'

/** Options of `defineModel`. */
export interface ModelDefinition<
  S extends FieldSchemas,
  H = FieldName<Values<S>>,
  U = unknown,
  W = TimestampNames,
> {
  /** The fields, or a `z.object()` with refinements across fields. */
  readonly fields: S | $ZodObject<S>
  /**
   * Whether records have `createdAt` and `updatedAt`, which the server sets. Other names: `{ createdAt: 'created_at',
   * updatedAt: false }`; false leaves one out. Default false.
   */
  readonly timestamps?: W
  /**
   * Fields, or lists of fields, whose values no two records may share; records without the field never clash. Each must
   * have one type: a mixed field (`z.unknown()`, a union of several types) cannot be unique.
   */
  readonly unique?: readonly (FieldName<Values<S>> | readonly FieldName<Values<S>>[])[]
  /** Indexes: each is a sort key or a list of sort keys. */
  readonly indexes?: readonly (SortName<Values<S>> | readonly SortName<Values<S>>[])[]
  /**
   * What the values of fields may become: `{ status: { requested: ['approved', 'declined'], approved: ['lent'] } }`. A value
   * that is not named stays as it is. Any other change is a 409, for clients as for your code.
   */
  readonly transitions?: {
    readonly [F in keyof Values<NoInfer<S>> & string]?: {
      readonly [From in Extract<Values<NoInfer<S>>[F], string | number>]?: readonly NonNullable<
        Values<NoInfer<S>>[F]
      >[]
    }
  }
  /** The values that fields of new records may have: `{ status: ['requested'] }`. Any other is a 400. */
  readonly initial?: ListedValues<NoInfer<S>>
  /**
   * Records that exclude each other: `{ equal: ['tool'], range: ['from', 'to'], where: { status: ['approved', 'lent'] } }`.
   * No two records with equal values have ranges (of dates or numbers, the end not included) that overlap; with `where`,
   * only records that have one of these values count. A write that would overlap is a 409.
   */
  readonly exclude?: readonly {
    readonly equal: readonly FieldName<Values<NoInfer<S>>>[]
    readonly range: readonly [
      from: FieldName<Values<NoInfer<S>>>,
      to: FieldName<Values<NoInfer<S>>>,
    ]
    readonly where?: ListedValues<NoInfer<S>>
  }[]
  /**
   * Whether each write of a record adds an entry to the log of changes, in the same step: for live lists, history, consumers
   * and webhooks. Entries are kept for a day, or as long as `keep` says: `{ keep: '7d' }`. Default false.
   */
  readonly changes?: ChangesOption
  /** Fields that no response contains and that no filter, sort, search or cursor can use. */
  readonly hidden?: readonly H[]
  /** Transforms each record for responses, as the last step; a router's `lean` skips it. */
  readonly output?: (record: Values<S> & Managed) => U extends PromiseLike<unknown> ? never : U
  /**
   * Earlier names of fields and timestamps, each with the current name: `{ surname: 'lastName' }`. Reads and filters find values
   * under both names; writes use the current one, and `fieldgate backfill` moves the rest.
   */
  readonly renamed?: Readonly<Record<string, (keyof NoInfer<S> & string) | TimesIn<NoInfer<W>>>>
  /**
   * Functions that make a stored value which the field no longer takes into one that it does: `{ age: (old) =>
   * Number(old) }`. Reads show the result, and `fieldgate backfill` stores it. A result that the field does not take
   * either, or an error, leaves the value as it is.
   */
  readonly convert?: { readonly [F in keyof NoInfer<S>]?: (stored: unknown) => unknown }
  /**
   * The collection's name. Default: the model's name in lower case, plural, as Mongoose has it: `people` for `Person`,
   * `status` for `Status`.
   */
  readonly collection?: string
  /**
   * The format of ids. Default `'objectId'`: 24 hexadecimal digits, on every store. `'integer'` and `'text'` are for
   * adopted tables.
   */
  readonly id?: IdType
  /** The name of an existing PostgreSQL table to use for the records. It is never altered. */
  readonly table?: string
  /** The names of the table's columns that differ from their fields', `_id` included. */
  readonly columns?: Readonly<Partial<Record<keyof S | keyof Managed, string>>>
}

/** How long the log keeps changes: `'7d'`, `'12h'`, `'90m'`, or `'forever'`. `true` is a day. */
export type ChangesOption =
  | boolean
  | { readonly keep?: `${number}${'s' | 'm' | 'h' | 'd'}` | 'forever' }

/** Values of fields, a list for each. */
type ListedValues<S extends FieldSchemas> = {
  readonly [F in keyof Values<S> & string]?: readonly NonNullable<Values<S>[F]>[]
}

type Transformed<U> = U extends undefined ? never : ByOutput

/**
 * Declares a model. Throws a `TypeError` that names the option and the field when the definition makes no
 * sense.
 *
 * ```ts
 * import { z } from 'zod'
 * import { defineModel } from 'fieldgate'
 *
 * const Country = defineModel('Country', {
 *   fields: { code: z.string().length(2), name: z.string().min(1) },
 *   unique: ['code'],
 * })
 * ```
 */
export function defineModel<
  const S extends FieldSchemas,
  H extends FieldName<Values<S>> = never,
  U = undefined,
  const W extends TimestampNames = false,
>(
  name: string,
  definition: ModelDefinition<S, H, U, W>,
): Model<Values<S>, Inputs<S>, H | Transformed<U> | Stamps<W>> {
  const fail: Fail = failAs(`Model '${name}'`)
  if (typeof name !== 'string' || name === '') fail('a model needs a name')
  checkOptions({ fields: null, ...(definition as object) }, MODEL_RULES, fail)
  const schema = asObject(definition.fields) ?? fail(`'fields' must be an object of zod schemas`)
  const fields = schema._zod.def.shape
  checkFieldNames(Object.keys(fields), fail)
  const idType = definition.id ?? 'objectId'
  const timestamps = timestampsOf(definition.timestamps)
  const times = checkedTimes(timestampFields(timestamps), fields, fail)
  const shape = recordShape(shapeAt('output', name, fields), idType, times)
  const declared = declaredRecord(schema, ['_id', ...times])
  const known = (option: string, path: string): string =>
    placeOf(shape, path) ? path : fail(noSuchField(option, path, { name, shape }))
  const scalar = (option: string, path: string): string =>
    isScalar(shape, known(option, path))
      ? path
      : fail(`'${option}' names '${path}', which is a list or an object`)
  const ordered = (path: string): string =>
    isMixed(shape, scalar('unique', path))
      ? fail(`'unique' names '${path}', ${SEVERAL_TYPES}`)
      : path
  const hidden = (path: string) => (leadsSomewhere(shape, path) ? path : known('hidden', path))
  const indexKey = (key: string): SortKey => {
    const parsed = sortKey(key)
    return { ...parsed, field: scalar('indexes', parsed.field) }
  }
  const index = (keys: readonly SortKey[]): readonly SortKey[] => {
    const [one, other] = keys.filter(({ field }) => isMixed(shape, field))
    // MongoDB refuses a record that has lists in two fields of one index.
    return one && other
      ? fail(
          `'indexes' names '${one.field}' and '${other.field}' in one index, which may both hold lists. Give each an index of its own`,
        )
      : keys
  }
  const model: Model<Values<S>, Inputs<S>, H | Transformed<U> | Stamps<W>> = Object.freeze({
    name,
    collection: definition.collection ?? ownCollection(name, fail),
    idType,
    ...adoptedBy(definition, shape, fail),
    timestamps,
    schema,
    fields,
    refinements: refinementsOf(schema),
    shape,
    declared,
    absence: absences(fields, ['_id', ...times]),
    input: shapeAt('input', name, fields),
    unique: distinct((definition.unique ?? []).map((set) => [set].flat().map(ordered))),
    indexes: distinct((definition.indexes ?? []).map((set) => index([set].flat().map(indexKey)))),
    ...modelRules(definition as RuleOptions, { name, shape, fields, declared }, fail),
    ...(definition.changes && { changes: { keepMs: keepMs(definition.changes) } }),
    hidden: hiddenPaths(fields, (definition.hidden ?? []).map(hidden)),
    ...(definition.output && { output: definition.output }),
    renamed: renames(definition.renamed ?? {}, [...Object.keys(fields), ...times], fail),
    ...(definition.convert && { convert: conversions(definition.convert, fields, fail) }),
  })
  remember(model as unknown as Model)
  return model
}

function asObject<S extends FieldSchemas>(fields: S | $ZodObject<S>): $ZodObject | undefined {
  if (!fields) return undefined
  if (isSchema(fields)) {
    return fields._zod.def.type === 'object' ? (fields as $ZodObject) : undefined
  }
  return Object.values(fields).every(isSchema) ? object(fields as FieldSchemas) : undefined
}

function adoptedBy(
  { table, columns = {} }: Pick<ModelDefinition<FieldSchemas>, 'table' | 'columns'>,
  shape: ObjectShape,
  fail: Fail,
): { adopted?: AdoptedTable } {
  const [unknown] = Object.keys(columns).filter((field) => !shape.fields.has(field))
  if (unknown !== undefined) fail(`'columns' names '${unknown}', which is not a field`)
  if (table === undefined && Object.keys(columns).length > 0) fail(`'columns' needs 'table'`)
  return table === undefined
    ? {}
    : { adopted: { name: table, columns: columns as AdoptedTable['columns'] } }
}

/** The names of timestamps, which no field may have. */
function checkedTimes(names: readonly string[], fields: FieldSchemas, fail: Fail): typeof names {
  const others = names.filter((name) => !['createdAt', 'updatedAt'].includes(name))
  checkFieldNames(others, (message) => fail(`'timestamps': ${message}`))
  const taken = names.find((name) => Object.hasOwn(fields, name))
  if (taken !== undefined) fail(`'timestamps' names '${taken}', which is a field`)
  return names
}

function recordShape(fields: ObjectShape, idType: IdType, times: readonly string[]): ObjectShape {
  const shapes = new Map<string, Shape>([['_id', { kind: 'id', idType }], ...fields.fields])
  for (const time of times) shapes.set(time, { kind: 'date' })
  return { kind: 'object', fields: shapes }
}

function shapeAt(side: Side, name: string, fields: FieldSchemas): ObjectShape {
  try {
    return objectShape(fields, side)
  } catch (error) {
    throw new TypeError(`Model '${name}': ${(error as Error).message}`, { cause: error })
  }
}

/** The fields listed in `hidden`, and those that are marked so. */
function hiddenPaths(fields: FieldSchemas, named: readonly string[]): readonly string[] {
  const marked = Object.keys(fields).filter((field) =>
    isMarked(fields[field] as $ZodType, 'hidden'),
  )
  return [...new Set([...named, ...marked])]
}

/** Without duplicates, from which a database would make two indexes with the same name. */
function distinct<T>(sets: readonly T[]): readonly T[] {
  return [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()]
}

function ownCollection(name: string, fail: Fail): string {
  const collection = collectionName(name)
  if (isReserved(collection)) fail(`the name '${collection}' is reserved. Give it a 'collection'`)
  return collection
}

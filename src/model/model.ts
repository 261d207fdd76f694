/** A data model, as the rest of fieldgate sees it. define.ts makes them. */

import type { $InferObjectInput, $InferObjectOutput, $ZodObject, $ZodType } from 'zod/v4/core'
import type { Declared } from '../ports/store/declared.ts'
import type { Exclusion } from '../ports/store/exclusion.ts'
import type { Scalar, SortKey } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import { type IdType, type ObjectShape, placeOf } from '../ports/store/shape.ts'
import type { Absence, AdoptedTable, Collated, VersionKey } from '../ports/store/store.ts'
import { isWithin } from '../ports/values/paths.ts'
import { isFields } from './writable.ts'

/** A shape of zod 4 schemas, of `zod` or `zod/mini`. */
export type FieldSchemas = Readonly<Record<string, $ZodType>>

/** What a record of a model with the fields `S` holds, without `_id` and timestamps. */
export type Values<S extends FieldSchemas> = $InferObjectOutput<S, Record<never, never>>

/** What a write of such a record may contain: fields with a default may be left out. */
export type Inputs<S extends FieldSchemas> = $InferObjectInput<S, Record<never, never>>

/** The fields that the server sets itself. */
export interface Managed {
  readonly _id: string
  readonly createdAt?: Date
  readonly updatedAt?: Date
}

/** What the values of one field may become. */
export interface FieldTransitions {
  readonly field: string
  /** From each value to those that it may become; undefined if every change is fine. */
  readonly next: ReadonlyMap<Scalar, readonly Scalar[]> | undefined
  /** The values of a new record; undefined if every value is fine. */
  readonly initial: readonly Scalar[] | undefined
}

/** A stored record of a model. */
export type RecordOf<M> = M extends Model<infer R> ? R & Managed : never

/** A field's name, or a dotted path into one. */
export type FieldName<R> = (keyof R & string) | keyof Managed | `${keyof R & string}.${string}`

/** A sort key: a field's name, with `-` in front for descending. */
export type SortName<R> = FieldName<R> | `-${FieldName<R>}`

/** Makes a stored value that a field no longer takes into one that it does. */
export type Convert = (stored: unknown) => unknown

/** Marks, in the list of hidden fields, a model whose `output` decides what is shown. */
export type ByOutput = '()'

/** Marks, in the list of hidden fields, the times that a model with the `timestamps` `W` keeps: `+createdAt`. */
export type Stamps<W> = `+${TimesIn<W>}`

/** The names of the times that a model with the `timestamps` `W` keeps, as far as the compiler knows them. */
export type TimesIn<W> = boolean extends W
  ? never
  : W extends true
    ? TimesIn<object>
    : W extends object
      ? TimeIn<W, 'createdAt'> | TimeIn<W, 'updatedAt'>
      : never

type TimeIn<W, Time extends string> = W extends { readonly [K in Time]: infer N }
  ? N extends true
    ? Time
    : N extends string
      ? N
      : never
  : Time

/**
 * A data model made by `defineModel`: its records are `R`, and writes take `I`. `H` names the hidden fields, as far as
 * the compiler knows them, with marks.
 */
export interface Model<R = Fields, I = unknown, H = unknown> {
  readonly name: string
  readonly collection: string
  readonly idType: IdType
  /** The existing table that holds the records, on stores that adopt tables. */
  readonly adopted?: AdoptedTable
  /** The fields in which the server keeps times; empty if it keeps none. */
  readonly timestamps: Timestamps
  /** The zod object that validates a whole record. */
  readonly schema: $ZodObject
  /** The declared fields' schemas. */
  readonly fields: FieldSchemas
  /** The rules that look across fields, if there are any. */
  readonly refinements: $ZodObject | undefined
  /** The whole record's shape, `_id` and timestamps included. */
  readonly shape: ObjectShape
  /** What responses may show of a record. */
  readonly declared: Declared
  /** How a record may lack each top-level field. */
  readonly absence: ReadonlyMap<string, Absence>
  /** The shape of what a write sends; it differs from the record's if a field is a pipe. */
  readonly input: ObjectShape
  readonly unique: readonly (readonly string[])[]
  /** The unique sets that are compared by a collation: those of Mongoose's indexes. */
  readonly collations?: readonly Collated[]
  /** The member in which Mongoose counts versions, if it does. */
  readonly version?: VersionKey
  readonly indexes: readonly (readonly SortKey[])[]
  /** What the values of fields may become, if the model says. */
  readonly transitions?: readonly FieldTransitions[]
  /** Which records exclude each other. */
  readonly exclude?: readonly Exclusion[]
  /** If the log of changes notes what happens to its records: for how long at least, in milliseconds. */
  readonly changes?: { readonly keepMs: number }
  readonly hidden: readonly string[]
  readonly output?: (record: never) => unknown
  /** The earlier names of fields, each with the current name. */
  readonly renamed: ReadonlyMap<string, string>
  /** What makes a value that an earlier model allowed into a current one, by field. */
  readonly convert?: Readonly<Record<string, Convert>>
  /** Carries the record's type; never set. */
  readonly '~values'?: R
  /** Carries the type of what is written; never set. */
  readonly '~inputs'?: I
  /** Carries the names of hidden fields; never set. */
  readonly '~hidden'?: H
}

/** Parses a sort key: `-population` is descending. */
export function sortKey(text: string): SortKey {
  return text.startsWith('-')
    ? { field: text.slice(1), descending: true }
    : { field: text, descending: false }
}

/** The name of the model that the field `field` refers to, by one id or a list of them. */
export function referenceAt({ shape }: Pick<Model, 'shape'>, field: string): string | undefined {
  const at = placeOf(shape, field)?.shape
  return at?.kind === 'id' ? at.ref : undefined
}

/** Whether `path` is hidden, lies inside something hidden, or holds something hidden. */
export function isHidden(model: { readonly hidden: readonly string[] }, path: string): boolean {
  return model.hidden.some((hidden) => isWithin(path, hidden) || isWithin(hidden, path))
}

/** The fields that hold the time of a record's creation and of its last change. None for a time that is not kept. */
export interface Timestamps {
  readonly createdAt?: string
  readonly updatedAt?: string
}

/** What a definition says of timestamps: whether they are kept, or the name of each; false leaves one out. */
export type TimestampNames =
  | boolean
  | { readonly createdAt?: string | boolean; readonly updatedAt?: string | boolean }

/** The fields that a definition names. */
export function timestampsOf(names: TimestampNames = false): Timestamps {
  const { createdAt = true, updatedAt = true } =
    typeof names === 'object' ? names : { createdAt: names, updatedAt: names }
  return { ...named('createdAt', createdAt), ...named('updatedAt', updatedAt) }
}

function named(time: keyof Timestamps, name: string | boolean): Timestamps {
  return name === false ? {} : { [time]: name === true ? time : name }
}

export function timestampFields(timestamps: Timestamps): readonly string[] {
  return Object.values(timestamps)
}

/** Whether `path` leads to one value, which an index can hold: no list on the way, no object at its end. */
export function isScalar(shape: ObjectShape, path: string): boolean {
  const place = placeOf(shape, path)
  return place?.parts.length === 1 && !['object', 'map', 'list'].includes(place.shape.kind)
}

/** Whether `path` leads to one value of one type. */
export function isOrdered(shape: ObjectShape, path: string): boolean {
  return isScalar(shape, path) && !isMixed(shape, path)
}

/** Whether `path` leads to one value whose type is unknown, or one of several. */
export function isMixed(shape: ObjectShape, path: string): boolean {
  return isScalar(shape, path) && placeOf(shape, path)?.shape.kind === 'mixed'
}

/** Why a field of several types is refused, and what to write instead. */
export const SEVERAL_TYPES =
  'which may hold values of several types and so has no order. Declare one type, as in z.string() (after a transform: .pipe(z.string())), or leave it out'

/** The value at a dotted path that leads to one value; null if there is none. */
export function valueAt(record: Fields, path: string): Scalar {
  return (valueIn(record, path) ?? null) as Scalar
}

/** The value at `path` in `record`, outside of lists. */
export function valueIn(record: Fields, path: string): unknown {
  let value: unknown = record
  for (const key of path.split('.')) {
    value = isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

const defined = new Map<string, Model>()

/** Remembers a model; the last one defined under a name wins. */
export function remember(model: Model): void {
  defined.set(model.name, model)
}

export function definedNames(): Iterable<string> {
  return defined.keys()
}

/** The model last defined under `name`. An app looks among its own models first. */
export function lastDefined(name: string): Model | undefined {
  return defined.get(name)
}

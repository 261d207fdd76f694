/** What is read of Mongoose's schemas. Nothing of Mongoose is imported, so its versions 8 and 9 serve alike. */

import type { Collated } from '../../src/ports/store/store.ts'

/** A Mongoose schema: `new mongoose.Schema(…)`. */
export interface MongooseSchema {
  readonly paths: object
  readonly virtuals: unknown
  indexes(): readonly unknown[]
}

/** A Mongoose model: `mongoose.model(…)`. */
export interface MongooseModel {
  readonly modelName: string
  readonly schema: MongooseSchema
  readonly collection: object
}

/** The same schema with what its declarations leave out. */
export interface SchemaParts {
  readonly paths: Readonly<Record<string, SchemaType>>
  readonly virtuals: Readonly<Record<string, Virtual>>
  readonly options: Readonly<Record<string, unknown>>
  /** What made the schema, with the options that `mongoose.set()` gave it. */
  readonly base?: {
    readonly options?: Readonly<Record<string, unknown>>
    /** The plugins of all schemas. */
    readonly plugins?: readonly (readonly [fn: unknown, opts?: unknown])[]
  }
  readonly aliases?: Readonly<Record<string, string>>
  readonly methods?: object
  readonly statics?: object
  readonly query?: object
  readonly plugins?: readonly { readonly fn: unknown; readonly opts?: unknown }[]
  readonly s?: { readonly hooks?: { readonly _pres?: Hooks; readonly _posts?: Hooks } }
  readonly discriminators?: Readonly<Record<string, SchemaParts>>
  readonly discriminatorMapping?: {
    readonly key: string
    readonly value: unknown
    readonly isRoot: boolean
  }
  /** The discriminators of a schema that no model has been made of. */
  readonly _applyDiscriminators?: ReadonlyMap<string, Applied>
  indexes(): readonly (readonly [Readonly<Record<string, unknown>>, IndexOptions?])[]
}

/** A name in documents that is not stored. */
export interface Virtual {
  readonly options?: { readonly ref?: unknown; readonly localField?: unknown }
  readonly setters?: readonly unknown[]
  readonly getters?: readonly unknown[]
}

/** A discriminator on a schema that no model has been made of. */
interface Applied {
  readonly schema: SchemaParts
  readonly options?: { readonly value?: unknown }
}

/** Functions that run before or after an operation, by the operation's name. */
export type Hooks = ReadonlyMap<string, readonly { readonly fn: unknown }[]>

/** The options of an index. */
export interface IndexOptions {
  readonly unique?: boolean
  readonly sparse?: boolean
  readonly collation?: Collated['collation']
  readonly partialFilterExpression?: unknown
  readonly expireAfterSeconds?: unknown
  readonly [option: string]: unknown
}

/** The type of a path. */
export interface SchemaType {
  readonly instance: string
  readonly options: Readonly<Record<string, unknown>>
  readonly validators: readonly Validator[]
  readonly setters: readonly unknown[]
  readonly getters: readonly unknown[]
  readonly defaultValue?: unknown
  readonly isRequired?: boolean
  readonly originalRequiredValue?: unknown
  /** Of a subdocument, and of a list of them. */
  readonly schema?: SchemaParts
  /** Of the elements of a list: Mongoose 9, and 8. */
  readonly embeddedSchemaType?: SchemaType
  readonly $embeddedSchemaType?: SchemaType
  /** Of the values of a map. */
  readonly $__schemaType?: SchemaType
  /** Of a union. */
  readonly schemaTypes?: readonly SchemaType[]
  /** The default as the type has it: `undefined` if there is none. */
  getDefault?(scope: unknown, init: boolean): unknown
}

/** A rule that Mongoose checks before it saves. */
export interface Validator {
  readonly type?: string
  readonly min?: unknown
  readonly max?: unknown
  readonly minlength?: unknown
  readonly maxlength?: unknown
  readonly enumValues?: readonly unknown[]
  readonly regexp?: unknown
}

/** The path in which Mongoose counts the versions of a document; undefined if it counts none. */
export function versionKeyOf({ options }: SchemaParts): string | undefined {
  const { versionKey = '__v' } = options
  return typeof versionKey === 'string' ? versionKey : undefined
}

/** The option in which the paths of a schema name their type. */
export function typeKeyOf({ options }: SchemaParts): string {
  return String(options.typeKey ?? 'type')
}

/** The type of a list's elements. */
export function elementOf(type: SchemaType): SchemaType | undefined {
  return type.embeddedSchemaType ?? type.$embeddedSchemaType
}

/** The schemas of the kinds of documents that share a collection or a list, by the value that tells them apart. */
export function kindsOf(schema: SchemaParts): ReadonlyMap<string, SchemaParts> {
  const made = Object.entries(schema.discriminators ?? {}).map(
    ([name, kind]) => [String(kind.discriminatorMapping?.value ?? name), kind] as const,
  )
  if (made.length > 0) return new Map(made)
  const applied = [...(schema._applyDiscriminators ?? [])]
  return new Map(
    applied.map(([name, { schema: kind, options }]) => [String(options?.value ?? name), kind]),
  )
}

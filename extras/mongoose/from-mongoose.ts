/** `fromMongoose()`: a model from one of Mongoose's. */

import { object } from 'zod/mini'
import type { $ZodObject } from 'zod/v4/core'
import { defineModel, type ModelDefinition } from '../../src/model/define.ts'
import { type FieldSchemas, type Managed, type Model, remember } from '../../src/model/model.ts'
import type { RuleOptions } from '../../src/model/rules.ts'
import { objectShape } from '../../src/model/shape/shape.ts'
import { didYouMean } from '../../src/model/suggest.ts'
import { isForbiddenKey } from '../../src/model/writable.ts'
import type { Fields } from '../../src/ports/store/records.ts'
import { type ObjectShape, placeOf } from '../../src/ports/store/shape.ts'
import { type Members, membersOf, subdocument } from './fields.ts'
import { idTypeOf, withStoredIds } from './ids.ts'
import { indexesOf } from './indexes.ts'
import { kindRule } from './kinds.ts'
import { reportGlobalPlugins, reportSchema } from './left-out.ts'
import { ownTimes, recordShape, timesWith, withOwnTimes } from './own-times.ts'
import { Report, type ReportRow } from './report.ts'
import {
  type MongooseModel,
  type MongooseSchema,
  type SchemaParts,
  typeKeyOf,
  versionKeyOf,
} from './structure.ts'
import { type Times, timesOf } from './times.ts'
import type { Reading } from './values.ts'

/** What a bare schema does not say. */
export interface SchemaNames {
  /** The model's name, which references use. */
  readonly name: string
  /** The collection's name. Default: that of a model of this name. */
  readonly collection?: string
}

/** What a model has besides what its schema says; each is as in `defineModel`, and comes in addition. */
export interface Additions<R = Fields>
  extends Pick<ModelDefinition<FieldSchemas>, 'changes' | 'convert' | 'renamed'>,
    RuleOptions {
  readonly hidden?: readonly string[]
  readonly unique?: readonly (string | readonly string[])[]
  readonly indexes?: readonly (string | readonly string[])[]
  readonly output?: (record: R & Managed) => unknown
}

/** The options, and whether they name a bare schema. */
const OPTIONS: Readonly<Record<keyof Additions | keyof SchemaNames, boolean>> = {
  name: true,
  changes: false,
  collection: true,
  convert: false,
  exclude: false,
  hidden: false,
  indexes: false,
  initial: false,
  output: false,
  renamed: false,
  transitions: false,
  unique: false,
}

/** A model, and what of Mongoose's it cannot say. */
export interface FromMongoose<R> {
  readonly model: Model<R, unknown>
  /** A row for each thing that is not carried over, or only in part; empty if nothing is lost. */
  readonly report: readonly ReportRow[]
}

/**
 * The model of the collection that `source` describes: a Mongoose model, or a schema with a name. Nothing of Mongoose
 * runs afterwards. Throws a `TypeError` for anything else, for unknown options, and for a schema that no model can be made
 * of.
 *
 * ```ts
 * // Product is a model of Mongoose.
 * const { model, report } = fromMongoose(Product)
 * for (const { path, feature, note } of report) console.log(path, feature, note)
 * const router = createRouter({ model })
 * ```
 */
export function fromMongoose<R = Fields>(
  source: MongooseModel,
  additions?: Additions<R>,
): FromMongoose<R>
export function fromMongoose<R = Fields>(
  source: MongooseSchema,
  options: SchemaNames & Additions<R>,
): FromMongoose<R>
export function fromMongoose<R = Fields>(
  source: MongooseModel | MongooseSchema,
  options: Partial<SchemaNames> & Additions<R> = {},
): FromMongoose<R> {
  const { schema, name, collection } = partsOf(source, options)
  checkNames(options, isModel(source))
  const { output, convert, renamed, transitions, initial, exclude, changes } = options
  const report = new Report()
  const reading: Reading = {
    report,
    typeKey: typeKeyOf(schema),
    hidden: [],
    objectOf: subdocument,
    around: new Map(),
    loops: [],
  }
  reportSchema(schema, '', report)
  if (isModel(source)) reportDatabase(source, report)
  else reportGlobalPlugins(schema, report)
  const id = idTypeOf(schema, report)
  const times = timesOf(schema, reading)
  const without = new Set(['_id', ...Object.values(times).filter((one) => one !== false)])
  const members = nameable(membersOf(schema, '', reading, without), times, report)
  const rule = kindRule(schema)
  const whole = (given: Members) => {
    const made = object(given)
    return (rule ? made.check(rule) : made) as unknown as $ZodObject<FieldSchemas>
  }
  const own = ownTimes(members, times)
  const shape = recordShape(objectShape(members, 'output'), times, id)
  const { collations, ...indexes } = indexesOf(schema, shape, report)
  const defined = defineModel(name, {
    fields: whole(lacking(members, own)),
    timestamps: timesWith(own, times),
    id,
    hidden: [...hiddenOf(reading, shape, report), ...(options.hidden ?? [])],
    unique: [...indexes.unique, ...(options.unique ?? [])],
    indexes: [...indexes.indexes, ...(options.indexes ?? [])],
    ...(convert && { convert }),
    ...(renamed && { renamed }),
    ...({ transitions, initial, exclude, changes } as object),
    ...(output && { output: output as () => unknown }),
    ...(collection !== undefined && { collection }),
  }) as unknown as Model
  const model = own.length > 0 ? withOwnTimes(defined, whole(members), times) : defined
  const key = versionKeyOf(schema)
  const kept = {
    shape: withStoredIds(model),
    ...(collations.length > 0 && { collations }),
    ...(key !== undefined && {
      version: { key, always: Boolean(schema.options.optimisticConcurrency) },
    }),
  }
  const made = Object.freeze({ ...model, ...kept }) as unknown as Model<R, unknown>
  remember(made as Model)
  return { model: made, report: report.rows() }
}

interface Parts {
  readonly schema: SchemaParts
  readonly name: string
  readonly collection?: string | undefined
}

function partsOf(source: MongooseModel | MongooseSchema, names: Partial<SchemaNames>): Parts {
  if (isModel(source)) {
    const { name } = source.collection as { name?: unknown }
    return {
      schema: source.schema as unknown as SchemaParts,
      name: source.modelName,
      collection: typeof name === 'string' ? name : undefined,
    }
  }
  if (typeof source?.paths !== 'object' || typeof source.indexes !== 'function') {
    throw new TypeError('fromMongoose() takes a Mongoose model, or a schema and a name')
  }
  if (typeof names.name !== 'string' || names.name === '') {
    throw new TypeError(`fromMongoose() needs a name for a schema: fromMongoose(schema, { name })`)
  }
  const { name, collection } = names
  return { name, collection, schema: source as unknown as SchemaParts }
}

/** Refuses unknown options, and names for a model that has its own. */
function checkNames(options: object, isNamed: boolean): void {
  for (const option of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, option)) {
      const meant = didYouMean(option, Object.keys(OPTIONS))
      throw new TypeError(`fromMongoose: unknown option '${option}'.${meant}`)
    }
    if (isNamed && OPTIONS[option as keyof typeof OPTIONS]) {
      throw new TypeError(`fromMongoose: '${option}' is for schemas: a Mongoose model has its own`)
    }
  }
}

function isModel(source: MongooseModel | MongooseSchema): source is MongooseModel {
  return typeof source === 'function' && 'modelName' in source && 'schema' in source
}

/** A connection of Mongoose; `useDb()` gives it a parent. */
interface Database {
  readonly name?: unknown
  readonly _parent?: { readonly name?: unknown }
}

/** Reports a database other than that of the connection. */
function reportDatabase(source: MongooseModel, report: Report): void {
  const { db = {} } = source as { readonly db?: Database }
  const { name, _parent } = db
  if (_parent === undefined || name === _parent.name) return
  report.add('', 'useDb', `the model is of the database '${name}': give the app a store of it`)
}

/** `members` without those of these names. */
function lacking(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

/** The members that a model can have; the others are reported. */
function nameable(members: Members, times: Times, report: Report): Members {
  const own: readonly string[] = ownTimes(members, times)
  const isOne = (name: string) =>
    own.includes(name) || !(isForbiddenKey(name) || name in Object.prototype)
  for (const name of Object.keys(members).filter((one) => !isOne(one))) {
    report.add(name, 'name', 'a field cannot have this name: it is never shown, and stays as it is')
  }
  return Object.fromEntries(Object.entries(members).filter(([name]) => isOne(name)))
}

/** The hidden paths, those that lead into a map or mixed value aside: a whole is hidden there. */
function hiddenOf(
  { hidden, loops }: Reading,
  shape: ObjectShape,
  report: Report,
): readonly string[] {
  // The paths inside have no end.
  const endless = loops.filter(({ around }) => hidden.some((path) => path.startsWith(`${around}.`)))
  for (const { path } of endless) {
    report.add(path, 'select', 'hidden, because the schema holds itself there and hides a path')
  }
  const paths = [...hidden, ...endless.map(({ path }) => path)]
  return [...new Set(paths)].map((path) => {
    if (placeOf(shape, path)) return path
    const around = ancestors(path).find((one) => placeOf(shape, one))
    report.add(path, 'select', `hidden with all of '${around}'`)
    return around ?? path
  })
}

/** The paths around `path`, the nearest first. */
function ancestors(path: string): string[] {
  const parts = path.split('.')
  return parts.map((_, at) => parts.slice(0, parts.length - 1 - at).join('.')).slice(0, -1)
}

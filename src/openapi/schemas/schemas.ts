/** JSON Schemas of models and of your own zod schemas, and where a document keeps them. */

import { object as zodObject } from 'zod/mini'
import {
  type $ZodObject,
  type $ZodType,
  type $ZodTypes,
  globalRegistry,
  toJSONSchema,
} from 'zod/v4/core'
import { type FieldTransitions, type Model, timestampFields } from '../../model/model.ts'
import { referenceOf, referredModel } from '../../model/shape/reference.ts'
import { objectShape } from '../../model/shape/shape.ts'
import { staticDefault } from '../../model/values/absence.ts'
import { isRemovable, withoutNulls } from '../../model/values/null.ts'
import type { Scalar } from '../../ports/store/filter.ts'
import { DATE_AMONG_OTHERS, type IdType, type Shape, shapeFor } from '../../ports/store/shape.ts'
import { topOf } from '../../ports/values/paths.ts'
import type { Schema } from '../specification.ts'
import { type Editable, sayString, sayWords } from './texts.ts'

/** A converted schema, and the named ones that it refers to as `#/$defs/<name>`. */
export interface Converted {
  readonly schema: Schema
  readonly defs: Readonly<Record<string, Schema>>
}

/** The schemas of ids, as clients may write them. */
export const ID_SCHEMAS: Readonly<Record<IdType, Schema>> = {
  objectId: { type: 'string', pattern: '^[0-9a-fA-F]{24}$' },
  uuid: { type: 'string', format: 'uuid' },
  integer: { type: 'string', pattern: '^(0|-?[1-9][0-9]{0,18})$' },
  text: { type: 'string', minLength: 1, maxLength: 1000 },
}

export function enumOf(names: readonly string[]): Schema | undefined {
  return names.length > 0 ? { type: 'string', enum: names } : undefined
}

export const TEXT: Schema = { type: 'string' }
export const DATE: Schema = { type: 'string', format: 'date-time' }

/** An object that has some of these members, and no others. */
export function partsOf(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, additionalProperties: false }
}

/** An object with exactly these members. */
export function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { ...partsOf(properties), required: Object.keys(properties) }
}

/** What a write makes of null: `create` for a whole record, `update` for the fields of a PATCH. */
type Write = 'create' | 'update'

interface Conversion {
  readonly write?: Write
  /** Whether references may be filled in. */
  readonly filledIn?: boolean
}

/** Converts one side of a zod schema: what it accepts, or what it produces. */
export function converted(
  zod: $ZodType,
  io: 'input' | 'output',
  conversion: Conversion = {},
): Converted {
  const made = toJSONSchema(zod, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }) {
      const { write } = conversion
      const json = jsonSchema as Editable
      adapt(zodSchema, json, conversion)
      if (io === 'input') asWritten(zodSchema, json)
      if (write) clear(zodSchema, json, write === 'update' && path.length === 0)
    },
  }) as Schema
  const { $schema: _, $defs = {}, '~standard': __, ...schema } = made
  // As references spell them.
  const spelled = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
  const defs = Object.entries($defs as Converted['defs']).map(([name, def]) => [spelled(name), def])
  return { schema, defs: Object.fromEntries(defs) }
}

/** Adds what zod does not know: ids, and dates as JSON has them. */
function adapt(zod: $ZodType, json: Editable, { filledIn }: Conversion): void {
  const { def } = (zod as $ZodTypes)._zod
  const reference = referenceOf(zod)
  if (reference !== undefined) {
    const id = ID_SCHEMAS[referredModel(zod)?.idType ?? 'objectId']
    delete json.type
    // Null stands for a record that is not there any more.
    const filled = { anyOf: [id, { type: 'object' }, { type: 'null' }] }
    Object.assign(json, filledIn ? filled : id, { 'x-ref': reference })
  }
  if (def.type === 'date') Object.assign(json, DATE)
  if (def.type === 'string') sayString(def, json)
  // The constant says it; with a type, generated Python takes it for one of the texts 'true' and 'false'.
  if (typeof json.const === 'boolean') delete json.type
  // zod freezes such values; clients may write them.
  if (def.type === 'readonly' && !globalRegistry.get(zod)?.readOnly) delete json.readOnly
  // A default that is made anew each time is none that a document could name.
  if (def.type === 'default' && staticDefault(zod) === undefined) delete json.default
}

/** Says what a write takes, where zod says what a schema is declared to take. */
function asWritten(zod: $ZodType, json: Editable): void {
  const { def } = (zod as $ZodTypes)._zod
  if (def.type === 'object' && json.required) {
    json.required = json.required.filter((name) => !isCaught(def.shape[name]))
    if (json.required.length === 0) delete json.required
  }
  sayWords(zod, json)
  const key = json.anyOf ? 'anyOf' : 'oneOf'
  if (def.type !== 'union' || !json[key]) return
  const shape = inputShape(zod)
  // Where strings stay strings, a client can't send a date.
  if (shape?.kind !== 'mixed' || shapeFor(shape, '') === DATE_AMONG_OTHERS) return
  json[key] = json[key].flatMap((option, at) =>
    inputShape(def.options[at] as $ZodType)?.kind === 'date' ? nullOf(option) : [option],
  )
}

function inputShape(zod: $ZodType): Shape | undefined {
  return objectShape({ value: zod }, 'input').fields.get('value')
}

/** What is left of an option without its dates: null, if it takes that too. */
function nullOf({ anyOf = [] }: Editable): readonly Editable[] {
  return anyOf.filter(({ type }) => type === 'null')
}

/** Whether an absent member is caught, as any other value that does not fit. */
function isCaught(schema: $ZodType | undefined): boolean {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type !== 'pipe') return def.type === 'catch'
  return isCaught(def.in) || (def.in._zod.def.type === 'transform' && isCaught(def.out))
}

/** Lets members of an object be null where a write takes that for their absence. */
function clear(zod: $ZodType, { properties }: Editable, isUpdate: boolean): void {
  const { def } = (zod as $ZodTypes)._zod
  if (def.type !== 'object' || !properties) return
  // Null in a member that may be left out leaves it out, unless the member's own transform is given it.
  const isCleared = (member: $ZodType) => withoutNulls([member], null) === undefined
  const clears = isUpdate ? isRemovable : isCleared
  for (const [name, property] of Object.entries(properties)) {
    const member = def.shape[name]
    // Schemas that extend one another share their properties.
    if (!member || !clears(member) || 'toJSON' in property) continue
    // Once zod writes the document: at first, it has yet to fill in some schemas.
    properties[name] = { toJSON: () => orNull(property) }
  }
}

export function orNull(schema: Schema): Schema {
  const options = Array.isArray(schema.anyOf) ? (schema.anyOf as readonly Schema[]) : [schema]
  const takesAny = Object.keys(schema).length === 0
  if (takesAny || options.some(({ type }) => [type].flat().includes('null'))) return schema
  const { default: standard, ...rest } = schema
  const inner = Array.isArray(schema.anyOf) ? options : [rest]
  return {
    anyOf: [...inner, { type: 'null' }],
    ...(standard !== undefined && { default: standard }),
  }
}

/** What responses show of a model's records: declared fields that are not hidden. */
export function recordSchema(
  model: Pick<Model, 'schema' | 'hidden' | 'idType' | 'timestamps' | 'transitions' | 'exclude'>,
  options: { readonly filledIn?: boolean } = {},
): Converted {
  const { schema, hidden, idType, timestamps } = model
  // In another object, one that refers to itself, or has an id, is apart from the record, which has an id and dates beside.
  const made = converted(zodObject({ record: schema }), 'output', options)
  const { record = {} } = (made.schema as ObjectSchema).properties ?? {}
  const name = typeof record.$ref === 'string' && record.$ref.replace('#/$defs/', '')
  const whole = name ? structuredClone(made.defs[name] ?? {}) : record
  const { schema: shown, defs } = withoutHidden(hidden, { schema: whole, defs: made.defs })
  const { properties, required = [], ...rest } = shown as ObjectSchema
  const dates = Object.fromEntries(timestampFields(timestamps).map((name) => [name, DATE]))
  return {
    schema: withRules(model, {
      ...rest,
      properties: { _id: ID_SCHEMAS[idType], ...properties, ...dates },
      required: ['_id', ...required, ...Object.keys(dates)],
    }),
    defs,
  }
}

export interface ObjectSchema extends Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** A copy of what was converted, without the members at `paths`. */
function withoutHidden(paths: readonly string[], made: Converted): Converted {
  const { schema, defs } = structuredClone(made)
  for (const path of paths) hide(schema, defs, path.split('.'))
  return { schema, defs }
}

/** Removes the member at `path`, wherever the schema may hold it; what others refer to as well becomes a copy of its own. */
function hide(at: unknown, defs: Converted['defs'], path: readonly string[]): void {
  if (typeof at !== 'object' || at === null) return
  const schema = at as Editable
  const { $ref, ...beside } = schema
  if (typeof $ref === 'string') {
    delete schema.$ref
    Object.assign(schema, structuredClone(defs[$ref.replace('#/$defs/', '')]), beside)
  }
  const { anyOf, oneOf, allOf, prefixItems, items, properties } = schema
  for (const inner of [anyOf, oneOf, allOf, prefixItems, items].flat()) hide(inner, defs, path)
  const [key = '', ...rest] = path
  if (rest.length > 0) hide(properties?.[key], defs, rest)
  else {
    delete properties?.[key]
    const required = schema.required?.filter((name) => name !== key)
    Object.assign(at, required && { required })
  }
}

/** The bodies that may write `fields` of a model: a whole record, or some of its fields. */
export function bodySchema(
  model: Pick<Model, 'fields' | 'hidden' | 'transitions' | 'exclude'>,
  fields: Iterable<string>,
  write: Write,
  as: 'json' | 'form' = 'json',
): Converted {
  const names = [...fields].filter((name) => !model.hidden.includes(name))
  const picked: $ZodObject = zodObject(
    Object.fromEntries(names.map((name) => [name, model.fields[name] as $ZodType])),
  )
  const made = converted(picked, 'input', as === 'json' ? { write } : {})
  const { schema, defs } = withoutHidden(model.hidden, made)
  if (write === 'create') return { defs, schema: withRules(model, schema) }
  const { required: _, ...optional } = schema as ObjectSchema
  // A default is for what a new record lacks: a PATCH leaves out what it does not change.
  const properties = Object.fromEntries(
    Object.entries(optional.properties ?? {}).map(([name, { default: __, ...rest }]) => [
      name,
      rest,
    ]),
  )
  return { schema: withRules(model, { ...optional, properties, minProperties: 1 }), defs }
}

/** `schema` of a record or a body, with what the model's rules say of its fields. */
function withRules<S extends ObjectSchema>(
  { transitions = [], exclude = [] }: Pick<Model, 'transitions' | 'exclude'>,
  schema: S,
): S {
  const properties = { ...schema.properties }
  const isShown = (field: string) => properties[topOf(field)] !== undefined
  for (const one of transitions) {
    const property = properties[one.field]
    if (!property) continue
    const description = [property.description, sentencesOf(one)].filter(Boolean).join(' ')
    properties[one.field] = {
      ...property,
      description,
      ...(one.next && { 'x-transitions': Object.fromEntries(one.next) }),
      ...(one.initial && { 'x-initial': one.initial }),
    }
  }
  const shown = exclude.filter(({ equal, range, where }) =>
    [...equal, ...range, ...Object.keys(where)].every(isShown),
  )
  return { ...schema, properties, ...(shown.length > 0 && { 'x-exclude': shown }) }
}

function sentencesOf({ next, initial }: FieldTransitions): string {
  const changes = [...(next ?? [])]
    .filter(([, to]) => to.length > 0)
    .map(([from, to]) => `from ${told([from])} to ${told(to)}`)
  const both = [
    ...(initial ? [`Begins with ${told(initial)}.`] : []),
    ...(changes.length > 0 ? [`Changes only ${changes.join('; ')}.`] : []),
  ]
  return both.join(' ')
}

function told(values: readonly Scalar[]): string {
  return values.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(' or ')
}

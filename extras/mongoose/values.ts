/** The values of a path as zod schemas: the type, and the rules that are no functions. */

import {
  array,
  boolean,
  gte,
  int32,
  literal,
  lte,
  maxLength,
  minLength,
  nullable,
  number,
  enum as oneOf,
  pipe,
  record,
  refine,
  regex,
  string,
  toLowerCase,
  toUpperCase,
  trim,
  union,
  unknown,
  type ZodMiniType,
} from 'zod/mini'
import type { $ZodCheck } from 'zod/v4/core'
import { ref } from '../../src/model/shape/reference.ts'
import { marked, type StoredAs, storedAs } from '../../src/model/shape/stored.ts'
import { idFrom } from '../../src/model/values/cast.ts'
import type { StoredForm } from '../../src/ports/store/shape.ts'
import { dateOf } from './dates.ts'
import { type Finding, reportPath } from './left-out.ts'
import { messageOf } from './messages.ts'
import { storedText } from './stored-text.ts'
import { elementOf, type SchemaParts, type SchemaType, type Validator } from './structure.ts'

/** What reads a schema into an object of zod; fields.ts has it. */
export type ObjectReader = (schema: SchemaParts, path: string, reading: Reading) => ZodMiniType

/** A schema of subdocuments that is being read, and what is made of it in the end. */
export interface Around {
  readonly path: string
  made?: ZodMiniType
}

/** A path whose subdocuments are those of the path around it. */
export interface Loop {
  readonly path: string
  readonly around: string
}

/** What is known while a schema is read. */
export interface Reading extends Finding {
  /** The paths that responses leave out. */
  readonly hidden: string[]
  readonly objectOf: ObjectReader
  /** The schemas of subdocuments that are being read: one of them may hold itself. */
  readonly around: Map<SchemaParts, Around>
  /** Where a schema holds itself. */
  readonly loops: Loop[]
}

/** The values that `type` stores at `path`, absence and defaults aside. */
export function valuesOf(type: SchemaType, path: string, reading: Reading): ZodMiniType {
  const { instance, options } = type
  if (options.ref !== undefined && !instance.startsWith('ObjectI') && !type.schema) {
    reading.report.add(
      path,
      'ref',
      `a reference by ${instance}: the value is kept, and is no ref()`,
    )
  }
  const schema = containerOf(type, path, reading) ?? scalarOf(type, path, reading)
  if (schema) return schema
  if (type.instance === 'Mixed') {
    reading.report.add(
      path,
      'Mixed',
      'any JSON value: ObjectIds, dates and other types of BSON inside become strings or numbers once the path is written',
    )
  } else {
    reading.report.add(
      path,
      `type ${type.instance}`,
      'an unknown type: any JSON value is taken. Use a `validate` hook',
      true,
    )
  }
  return anything()
}

/** The rule that a required value is one: neither null nor missing. */
export function demandingOne(type: SchemaType, path: string): $ZodCheck<unknown> {
  const isOne = (value: unknown) => value !== null && value !== undefined
  return refine(isOne, { error: 'Required.', ...messageOf(type, 'required', path) })
}

/** `values`, which refuse null if the schema demands a value: some types take it for one. */
export function demandedOf(type: SchemaType, path: string, values: ZodMiniType): ZodMiniType {
  const takesAny = ['unknown', 'union'].includes(values._zod.def.type)
  return isDemanded(type) && takesAny ? values.check(demandingOne(type, path)) : values
}

/** Any JSON value, with the keys that Mongoose stores in one. */
export function anything(): ZodMiniType {
  return storedAs(unknown(), 'any')
}

function containerOf(type: SchemaType, path: string, reading: Reading): ZodMiniType | undefined {
  const element = elementOf(type)
  if (type.schema) {
    const document = reading.objectOf(type.schema, path, reading)
    return type.instance === 'Embedded' ? document : array(nullable(document))
  }
  if (element) return array(elementValues(element, path, reading))
  if (type.instance === 'Map') {
    const values = type.$__schemaType
    const inside = values ? elementValues(values, path, reading) : anything()
    return marked(record(string(), inside), 'freeNames')
  }
  if (!type.schemaTypes) return undefined
  reading.report.add(path, 'Union', 'the first type that takes a value wins; BSON types stay JSON')
  return union(type.schemaTypes.map((one) => valuesOf(one, path, reading)))
}

/** The values in a list or map: null is one unless the schema says otherwise. */
function elementValues(type: SchemaType, path: string, reading: Reading): ZodMiniType {
  reportPath(type, path, reading)
  const values = demandedOf(type, path, valuesOf(type, path, reading))
  return type.isRequired ? values : nullable(values)
}

function scalarOf(type: SchemaType, path: string, reading: Reading): ZodMiniType | undefined {
  switch (type.instance) {
    case 'String':
      return textOf(type, path)
    case 'Number':
      return numberOf(type, path)
    case 'Double':
      return storedAs(number(), 'double')
    case 'Int32':
      return int32()
    case 'Boolean':
      return boolean()
    case 'Date':
      return dateOf(type, path)
    case 'ObjectId':
    case 'ObjectID':
      return idOf(type, path, reading)
    case 'Buffer':
      return bytesOf(type, path, reading)
    default:
      return digitsOf(type)
  }
}

const FORMS: Readonly<Record<string, StoredForm>> = {
  Decimal128: 'decimal128',
  BigInt: 'long',
  Long: 'long',
  UUID: 'uuid',
}

const MUST: Readonly<Record<Exclude<StoredAs, 'any'>, string>> = {
  decimal128: 'Invalid decimal: expected a string of at most 34 digits.',
  long: 'Invalid integer: expected a string of digits, of at most 64 bits.',
  uuid: 'Invalid UUID.',
  binary: 'Invalid base64.',
  double: 'Invalid number.',
  objectId: 'Invalid ID format.',
}

function digitsOf(type: SchemaType): ZodMiniType | undefined {
  const form = FORMS[type.instance]
  if (!form) return undefined
  return textStoredAs(form)
}

/** A string that is stored as `form`. */
function textStoredAs(form: StoredForm): ZodMiniType {
  const cast = (value: unknown) => storedText(form, value)
  const isOne = (text: string) => cast(text) !== undefined
  return storedAs(string().check(refine(isOne, MUST[form])), form, cast)
}

function bytesOf(type: SchemaType, path: string, { report }: Reading): ZodMiniType {
  const { subtype } = type.options
  if (subtype === 4) return textStoredAs('uuid')
  if (subtype) report.add(path, 'subtype', 'bytes are written with subtype 0')
  const bytes = textStoredAs('binary')
  // Mongoose counts no bytes as no value.
  return isDemanded(type)
    ? bytes.check(minLength(1, messageOf(type, 'required', path)) as $ZodCheck<unknown>)
    : bytes
}

/** An ObjectId that refers to no model. */
export function objectId(): ZodMiniType<string, string> {
  const isId = (id: string) => idFrom(id, 'objectId') !== undefined
  return storedAs(string().check(refine(isId, MUST.objectId)), 'objectId')
}

function idOf(type: SchemaType, path: string, { report }: Reading): ZodMiniType {
  const { ref: target, refPath } = type.options
  const name = typeof target === 'function' ? (target as { modelName?: string }).modelName : target
  if (typeof name === 'string') return ref(name) as unknown as ZodMiniType
  if (target !== undefined || refPath !== undefined) {
    report.add(
      path,
      refPath === undefined ? 'ref' : 'refPath',
      'the model differs from record to record: the id is kept, and is no ref()',
    )
  }
  return objectId()
}

function textOf(type: SchemaType, path: string): ZodMiniType {
  const { trim: trims, lowercase, uppercase } = type.options
  const changes = [
    ...(trims ? [trim()] : []),
    ...(lowercase ? [toLowerCase()] : []),
    ...(uppercase ? [toUpperCase()] : []),
  ]
  const isRequired = isDemanded(type)
  const rules = type.validators.flatMap((one) => textRule(type, one, isRequired, path))
  const choices = choicesOf(type).filter((one) => typeof one === 'string')
  // Mongoose counts the empty string as no value.
  const some = isRequired ? [minLength(1, messageOf(type, 'required', path))] : []
  if (choices.length === 0) return string().check(...changes, ...some, ...rules)
  const entries = Object.fromEntries(choices.map((one) => [one, one]))
  const chosen = oneOf(entries, messageOf(type, 'enum', path))
  return changes.length + rules.length === 0
    ? chosen
    : pipe(string().check(...changes, ...rules), chosen)
}

function textRule(
  type: SchemaType,
  { type: rule, minlength, maxlength, regexp }: Validator,
  isRequired: boolean,
  path: string,
): readonly $ZodCheck<string>[] {
  if (rule === 'minlength' && typeof minlength === 'number') {
    return [minLength(minlength, messageOf(type, rule, path))]
  }
  if (rule === 'maxlength' && typeof maxlength === 'number') {
    return [maxLength(maxlength, messageOf(type, rule, path))]
  }
  if (rule !== 'regexp' || !(regexp instanceof RegExp)) return []
  // Mongoose matches from the start each time, and lets the empty string pass unless it counts as missing.
  const flags = regexp.flags.replace(/[gy]/g, '')
  const source = isRequired ? regexp.source : `(?<![^])(?![^])|(?:${regexp.source})`
  return [regex(new RegExp(source, flags), messageOf(type, 'match', path))]
}

function numberOf(type: SchemaType, path: string): ZodMiniType {
  const choices = choicesOf(type).filter((one) => typeof one === 'number')
  const [first, ...others] = choices
  if (first !== undefined) return literal([first, ...others], messageOf(type, 'enum', path))
  const rules = type.validators.flatMap(({ type: rule, min, max }) => [
    ...(rule === 'min' && typeof min === 'number' ? [gte(min, messageOf(type, rule, path))] : []),
    ...(rule === 'max' && typeof max === 'number' ? [lte(max, messageOf(type, rule, path))] : []),
  ])
  return number().check(...rules)
}

function choicesOf(type: SchemaType): readonly unknown[] {
  const rule = type.validators.find((one) => one.type === 'enum')
  return (rule?.enumValues ?? []).filter((one) => one !== null && one !== undefined)
}

/** Whether every document must have a value at the path. */
export function isDemanded(type: SchemaType): boolean {
  return type.isRequired === true && !isConditional(type)
}

/** Whether a function decides whether the path is required. */
export function isConditional(type: SchemaType): boolean {
  const { required } = type.options
  const rule = Array.isArray(required) ? required[0] : required
  const inObject = typeof rule === 'object' && rule !== null && 'isRequired' in rule
  const deciders = [rule, inObject && rule.isRequired, type.originalRequiredValue]
  return deciders.some((one) => typeof one === 'function')
}

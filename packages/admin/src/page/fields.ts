/**
 * Fields of records, read from JSON Schemas.
 *
 * @module
 */

/** A JSON Schema, as far as it is read here. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly readOnly?: boolean
  readonly 'x-ref'?: string
  readonly 'x-transitions'?: Readonly<Record<string, readonly unknown[]>>
  readonly 'x-initial'?: readonly unknown[]
}

/** What a value is, and so how it is shown and changed. */
export type Kind =
  | 'text'
  | 'long'
  | 'email'
  | 'url'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'enum'
  | 'reference'
  | 'file'
  | 'list'
  | 'object'
  | 'json'

/** A field, or the elements of a list. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: Kind
  readonly isRequired: boolean
  readonly isNullable: boolean
  readonly options?: readonly (string | number | boolean)[]
  /** The model that a reference leads to. */
  readonly model?: string
  /** What a list has. */
  readonly item?: Field
  /** What an object has. */
  readonly fields?: readonly Field[]
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
  readonly standard?: unknown
  readonly help?: string
  /** What each value may become. */
  readonly transitions?: Readonly<Record<string, readonly unknown[]>>
  readonly initial?: readonly unknown[]
  /** Media types of files. */
  readonly accept?: string
  /** Whether it has several files. */
  readonly isMany?: boolean
}

/** Strings that may be longer than this are written in several lines. */
const LONG = 300
/** How deep schemas are followed; what is deeper, as in schemas that contain themselves, is JSON. */
const DEPTH = 4

/** The named schemas of a document. */
export class Schemas {
  readonly #named: Readonly<Record<string, Schema>>

  constructor(named: Readonly<Record<string, Schema>>) {
    this.#named = named
  }

  /** The schema itself, where it is one by its name. */
  resolved(schema: Schema): Schema {
    const name = schema.$ref?.replace('#/components/schemas/', '')
    return name === undefined ? schema : this.resolved(this.#named[name] ?? {})
  }

  /** The schema of a member, in whichever alternative has it. */
  member(schema: Schema, name: string): Schema {
    const whole = this.resolved(schema)
    const all = [whole, ...(whole.anyOf ?? []).map((one) => this.resolved(one))]
    const found = all.find(({ properties }) => properties?.[name])?.properties?.[name] ?? {}
    const member = this.resolved(found)
    return member.anyOf ? (this.#alternatives(member)[0] ?? member) : member
  }

  /** What the list in a response is made of. */
  element(response: Schema): Schema {
    return this.resolved(this.resolved(this.member(response, 'data')).items ?? {})
  }

  /** The values that a parameter takes, or the elements of one. */
  options(schema: Schema): readonly string[] {
    const whole = this.resolved(schema)
    const parts = [whole, ...(whole.anyOf ?? [])].flatMap((one) => [one, one.items ?? {}])
    const found = parts.flatMap((one) => one.enum ?? []).filter((one) => typeof one === 'string')
    return [...new Set(found)]
  }

  /** A field by its schema. */
  field(name: string, given: Schema, isRequired = false, depth = 0): Field {
    const whole = this.resolved(given)
    const alternatives = this.#alternatives(whole)
    const [only = whole] = alternatives
    const model = whole['x-ref'] ?? only['x-ref']
    const schema = alternatives.length === 1 ? { ...whole, ...only } : whole
    const common = {
      ...{ name, label: titleOf(name), isRequired },
      isNullable: [whole, ...(whole.anyOf ?? [])].some(({ type }) =>
        [type].flat().includes('null'),
      ),
      ...(whole.default !== undefined && { standard: whole.default }),
      ...(schema['x-transitions'] && { transitions: schema['x-transitions'] }),
      ...(schema['x-initial'] && { initial: schema['x-initial'] }),
      ...limitsOf(schema),
    }
    if (model !== undefined) return { ...common, kind: 'reference', model }
    if (alternatives.length > 1) return { ...common, ...choiceOf(alternatives) }
    return { ...common, ...this.#kindOf(schema, depth) }
  }

  /** What a value may be beside null. */
  #alternatives({ anyOf, oneOf }: Schema): readonly Schema[] {
    return (anyOf ?? oneOf ?? [])
      .map((one) => ({ ...one, ...this.resolved(one) }))
      .filter(({ type }) => type !== 'null')
  }

  #kindOf(schema: Schema, depth: number): Pick<Field, 'kind' | 'options' | 'item' | 'fields'> {
    const options = optionsOf(schema)
    if (options) return { kind: 'enum', options }
    const types = [schema.type].flat().filter((one) => one !== 'null')
    // A value of several types is JSON: a text would not tell '5' from 5.
    const type = types.length === 1 ? types[0] : undefined
    if (type === 'array' && schema.items && depth < DEPTH) {
      return { kind: 'list', item: this.field('', schema.items, true, depth + 1) }
    }
    if (type === 'object' && schema.properties && depth < DEPTH) {
      return { kind: 'object', fields: fieldsOf(this, schema, depth + 1) }
    }
    return { kind: type === 'string' ? stringKind(schema) : (PLAIN[type ?? ''] ?? 'json') }
  }
}

const PLAIN: Readonly<Record<string, Kind>> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
}
const FORMATS: Readonly<Record<string, Kind>> = {
  'date-time': 'datetime',
  date: 'date',
  email: 'email',
  uri: 'url',
  binary: 'file',
}

function stringKind({ format = '', maxLength = 0 }: Schema): Kind {
  return FORMATS[format] ?? (maxLength >= LONG ? 'long' : 'text')
}

function optionsOf(schema: Schema): Field['options'] | undefined {
  const found = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  return found?.filter((one) =>
    ['string', 'number', 'boolean'].includes(typeof one),
  ) as Field['options']
}

/** Several literals are a choice; other unions are JSON. */
function choiceOf(alternatives: readonly Schema[]): Pick<Field, 'kind' | 'options'> {
  const options = alternatives.map(optionsOf)
  if (options.includes(undefined)) return { kind: 'json' }
  return { kind: 'enum', options: options.flat() as NonNullable<Field['options']> }
}

function limitsOf(schema: Schema): Partial<Field> {
  const { minimum, maximum, maxLength, description } = schema
  // The choices themselves say what a value may become.
  const isSaid = schema['x-transitions'] !== undefined || schema['x-initial'] !== undefined
  return {
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && { min: minimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { max: maximum }),
    ...(maxLength !== undefined && { maxLength }),
    ...(description !== undefined && !isSaid && { help: description }),
  }
}

/** The fields of an object, but for its id. */
export function fieldsOf(schemas: Schemas, given: Schema, depth = 0): readonly Field[] {
  const { properties = {}, required = [] } = schemas.resolved(given)
  return Object.entries(properties)
    .filter(([name]) => depth > 0 || name !== '_id')
    .map(([name, schema]) => schemas.field(name, schema, required.includes(name), depth))
}

/** Whether a field has to be filled in: one that may be null may be left empty, though it is always there. */
export const isFilled = ({ isRequired, isNullable }: Field) => isRequired && !isNullable

/** Fields that are likely to name a record, the likeliest first. */
const NAMES = ['name', 'title', 'label', 'subject', 'fullName', 'email', 'username', 'code', 'slug']

/** The field that names a record for people. */
export function namingField(fields: readonly Field[]): string | undefined {
  const texts = fields.filter(({ kind }) => ['text', 'email', 'long'].includes(kind))
  const known = NAMES.find((name) => texts.some((field) => field.name === name))
  return known ?? texts[0]?.name
}

/** Whether a text has anything that people see. */
export const isSeen = (text: unknown): boolean =>
  typeof text === 'string' && /[^\s\p{C}]/u.test(text)

/** What people call a record. */
export function nameOf(record: unknown, fields: readonly Field[] = []): string {
  const values = (record ?? {}) as Readonly<Record<string, unknown>>
  const named = namingField(fields)
  const found = [named, ...NAMES].map((name) => name && values[name])
  const name = found.find(isSeen)
  return `${name ?? values._id ?? values.id ?? ''}`
}

/** `order-lines` as "Order lines", `feed/cities` as "Feed cities". */
export function titleOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[-_/.]+/g, ' ')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Screens of the page itself, and the name of a mount at the root. */
const OWN = ['login', 'account', 'root']

/** What a mount is called in paths of this page: each has a name of its own. */
export function nameIn(key: string): string {
  const name = key.replaceAll('.', '..').replaceAll('/', '.')
  return OWN.includes(name.toLowerCase()) ? `${name}.` : name || 'root'
}

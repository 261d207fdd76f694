/** BSON values that records don't have, and what `find` returns instead. */

import type {
  ForeignBatch,
  ForeignValue,
  UnmatchedValue,
} from '../../../../src/ports/store/copying.ts'
import {
  DATE_AMONG_OTHERS,
  type Shape,
  type StoredForm,
  shapeInside,
} from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import type { Run } from '../connection/connection.ts'
import { formOf, isTagged, type Stored } from '../documents/documents.ts'
import { documentOf, idOf, storedBatches } from './exact.ts'

export async function* foreignValues(
  { native, schema }: Stored,
  run: Run,
): AsyncGenerator<ForeignBatch> {
  for await (const batch of storedBatches(native, run)) {
    const found = batch.flatMap((record) => foreignIn(record, schema))
    yield {
      read: batch.length,
      values: found.filter((value) => 'becomes' in value),
      unmatched: found.filter((value) => 'wanted' in value),
    }
  }
}

function foreignIn(
  record: Uint8Array,
  schema: CollectionSchema,
): (ForeignValue | UnmatchedValue)[] {
  const { _id, ...fields } = documentOf(record)
  const found = [...membersIn(fields, '', schema.shape)]
  const type = typeOf(_id)
  if (!idTypesOf(schema).includes(type)) {
    found.push({ field: '_id', type, becomes: 'nothing: the record is left out' })
  }
  return found.length === 0 ? [] : found.map((value) => ({ id: idOf(record), ...value }))
}

/** The types of BSON that an id is stored as. */
function idTypesOf({ shape, idType }: CollectionSchema): readonly string[] {
  if (formOf(shape.fields.get('_id'))) return ['UUID']
  if (idType === 'integer') return ['Int32', 'Long', 'Double']
  return [idType === 'objectId' ? 'ObjectId' : 'String']
}

type Found = Omit<ForeignValue, 'id'> | Omit<UnmatchedValue, 'id'>

/** Where a value is: the last part of its path, and the shape that the model declares there. */
interface Place {
  readonly key: string
  readonly shape: Shape | undefined
}

function* valuesIn(value: unknown, field: string, place: Place): Generator<Found> {
  const type = typeOf(value)
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) {
      yield* valuesIn(element, field, { ...place, shape: shapeInside(place.shape, at, element) })
    }
  } else if (type === 'Object') {
    yield* membersIn(value as object, field, place.shape)
  } else {
    const becomes = otherThan(type, value, place)
    const isDate = type === 'String' && becomes !== undefined
    if (becomes !== undefined) yield { field, type, becomes, ...(isDate && { onlyCopied: true }) }
    const wanted = type === 'String' && writtenAs(place)
    if (wanted) yield { field, type, wanted }
  }
}

function* membersIn(value: object, field: string, shape: Shape | undefined): Generator<Found> {
  for (const [key, member] of Object.entries(value)) {
    const name = shape?.kind === 'map' ? '*' : key
    const path = field === '' ? name : `${field}.${name}`
    yield* valuesIn(member, path, { key, shape: shapeInside(shape, key, member) })
  }
}

/** The type of a value that was read as it is stored, as MongoDB's manual calls it; `Object` and `Array` too. */
function typeOf(value: unknown): string {
  if (value === null) return 'Null'
  if (Array.isArray(value)) return 'Array'
  if (value instanceof Date) return 'Date'
  if (typeof value !== 'object') return NAMES[typeof value] ?? typeof value
  if (!isTagged(value)) return 'Object'
  const { _bsontype: tag, sub_type } = value
  return BINARY[sub_type ?? -1] ?? NAMES[tag] ?? tag
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'String',
  boolean: 'Boolean',
  undefined: 'Undefined',
  BSONRegExp: 'RegExp',
  BSONSymbol: 'Symbol',
}

/** By subtype; the others are plain `Binary`. */
const BINARY: Readonly<Record<number, string>> = { 3: 'UUID (subtype 3)', 4: 'UUID' }

const FORMS: Readonly<Record<string, StoredForm>> = {
  Decimal128: 'decimal128',
  Long: 'long',
  UUID: 'uuid',
  Binary: 'binary',
}

/**
 * The type that a write of a string stores, if that is another one: filters ask for that. Dates are left out, whose
 * records don't hold the string.
 */
function writtenAs({ shape }: Place): string | undefined {
  if (shape?.kind === 'id' && shape.idType === 'objectId') return 'ObjectId'
  const form = formOf(shape)
  return form && Object.keys(FORMS).find((name) => FORMS[name] === form)
}

/** What a record holds instead of a value of this type at this place, see documents.ts; undefined if it holds it. */
function otherThan(type: string, value: unknown, place: Place): string | undefined {
  const form = formOf(place.shape)
  // The record tells all of a value whose type the model declares.
  if (form && FORMS[type] === form) return undefined
  const other = OTHERS[type]
  return typeof other === 'function' ? other(value, place) : other
}

type Other = string | ((value: unknown, place: Place) => string | undefined)

const OTHERS: Readonly<Record<string, Other>> = {
  String: (_, { shape }) =>
    shape?.kind === 'date' && shape !== DATE_AMONG_OTHERS ? 'a date' : undefined,
  Date: (value, { shape }) => {
    if (Number.isNaN(Number(value))) return 'null'
    return shape?.kind === 'date' ? undefined : 'a string'
  },
  // What is an id here is written back as an ObjectId.
  ObjectId: (_, { key, shape }) =>
    key === '_id' || (shape?.kind === 'id' && shape.idType === 'objectId') ? undefined : 'a string',
  Double: (value) => (Number.isFinite(Number(value)) ? undefined : 'null'),
  Long: (value) => (BigInt(Number(value)) === BigInt(String(value)) ? undefined : ROUNDED),
  Decimal128: (value) => decimal(String(value)),
  UUID: 'a string',
  'UUID (subtype 3)': 'a string in base64',
  Binary: 'a string in base64',
  RegExp: 'a string',
  Symbol: 'a string',
  Timestamp: 'an object',
  Code: 'an object',
  DBRef: 'an object',
  MinKey: 'null',
  MaxKey: 'null',
  Undefined: 'nothing',
}

const ROUNDED = 'a rounded number'

function decimal(text: string): string {
  const number = Number(text)
  if (!Number.isFinite(number)) return 'null'
  return digitsOf(text) === digitsOf(String(number)) ? 'a number' : ROUNDED
}

/** A decimal number without the ways to write the same value: `1.10`, `1.1` and `11E-1` are one. */
function digitsOf(text: string): string {
  const [, sign, whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${part}`
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  const kept = digits.slice(0, end)
  return `${sign}${kept.replace(/^0+/, '')}e${Number(power) - part.length + digits.length - kept.length}`
}

/**
 * Records as BSON documents and back. Ids are ObjectIds in the database and strings in fieldgate, and a model may declare
 * types of BSON (`StoredForm`): the JSON of each says all that the BSON value does. Everything else is the same in both, so
 * that Mongoose and fieldgate can read each other's collections.
 */

import {
  Binary,
  BSON,
  type Collection,
  Decimal128,
  type Document,
  Double,
  Long,
  ObjectId,
  UUID,
} from 'mongodb'
import type { Fields } from '../../../../src/ports/store/records.ts'
import {
  type ObjectShape,
  type Shape,
  type StoredForm,
  shapeInside,
} from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { madeOnce } from '../../../../src/ports/values/once.ts'
import { GRAMS, type Indexed } from '../search/grams.ts'
import { BsonReader } from './bson.ts'

/** A collection, and how the database has it. */
export interface Stored {
  readonly schema: CollectionSchema
  readonly native: Collection
  /** Gives the paths with a search index. */
  indexed(): Indexed
}

/** A value of a BSON type. Recognised by its tag: `instanceof` fails if an application holds two copies of bson. */
interface Tagged {
  readonly _bsontype: string
  readonly sub_type?: number
  toHexString?(): string
  toUUID?(): { toString(): string }
  toJSON?(): unknown
  toString(encoding?: string): string
}

/** The member of a document that is changed to keep the document from being removed by another transaction. */
export const LOCK = '_lock'

/** An ObjectId as a string: 24 lower-case hexadecimal digits. */
const HEX = /^[0-9a-f]{24}$/

/** A value as it is stored at a place of this shape. What does not fit a type stays as it is. */
export function encode(value: unknown, shape: Shape | undefined): unknown {
  const form = formOf(shape)
  if (form) return inForm(form, value)
  if (shape?.kind === 'id') return idValue(shape.idType, value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (isTagged(value)) return value
  if (Array.isArray(value)) {
    const element = shape?.kind === 'list' ? shape.element : undefined
    return value.map((one) => encode(one, element))
  }
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, encodeMember(key, member, shape)] as const)
  // bson takes a plain object with this key for one of its own types, but a Map as it is.
  return Object.hasOwn(value, '_bsontype') ? new Map(entries) : Object.fromEntries(entries)
}

/** The type of BSON that a model declares at a place; undefined for the types that JSON has a value for. */
export function formOf(shape: Shape | undefined): StoredForm | undefined {
  return shape && 'stored' in shape ? shape.stored : undefined
}

function inForm(form: StoredForm, value: unknown): unknown {
  if (form === 'double') return typeof value === 'number' ? new Double(value) : value
  return typeof value === 'string' ? FROM_TEXT[form](value) : value
}

const FROM_TEXT: Readonly<Record<Exclude<StoredForm, 'double'>, (text: string) => unknown>> = {
  decimal128: (text) => Decimal128.fromString(text),
  long: (text) => Long.fromString(text),
  uuid: (text) => new UUID(text).toBinary(),
  binary: (text) => Binary.createFromBase64(text),
}

function encodeMember(key: string, value: unknown, shape: Shape | undefined): unknown {
  if (shape?.kind === 'map') return encode(value, shape.value)
  const declared = shape?.kind === 'object' ? shape.fields.get(key) : undefined
  // Mongoose gives objects in lists an `_id` that no model declares; read and written back, it must stay equal.
  const isTheirs = key === '_id' && declared === undefined
  return isTheirs && typeof value === 'string' ? objectId(value) : encode(value, declared)
}

/** An id as it is stored; an integer as a number where JavaScript has one, as Mongoose writes them. */
function idValue(idType: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (idType === 'objectId') return objectId(value)
  if (idType !== 'integer') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : Long.fromString(value)
}

function objectId(value: string): unknown {
  return HEX.test(value) ? new ObjectId(value) : value
}

/**
 * A stored document as a record: `_id` first, without grams and lock, with Mongoose's version key only if the model declares it.
 */
export function fromDocument(document: Document, shape: ObjectShape): Fields {
  const record = fromValue(document, holdsStored(shape) ? shape : undefined)
  return shownOf(record as Fields, shape)
}

/**
 * The records in the cursor of a `find`'s reply; undefined if they are not all of them, as in one that is too long. Calls
 * `onRare` if there may be values among them of which JavaScript has no more than a part.
 */
export function recordsIn(
  { id, firstBatch }: Document,
  shape: ObjectShape,
  onRare: () => void,
): Fields[] | undefined {
  if (Number(id) !== 0) return undefined
  const isPlain = !holdsStored(shape)
  return firstBatch.map((bytes: Uint8Array) => {
    const plain = isPlain && new BsonReader(bytes).document()
    if (plain) return shownOf(plain, shape)
    onRare()
    return fromDocument(BSON.deserialize(bytes), shape)
  })
}

function shownOf(record: Fields, shape: ObjectShape): Fields {
  if ('__v' in record && !shape.fields.has('__v')) delete record.__v
  if (GRAMS in record) delete record[GRAMS]
  if (LOCK in record) delete record[LOCK]
  return record
}

/**
 * One stored value as a record has it, at a place of this shape: types of BSON are replaced in place, as nothing else uses
 * the driver's result.
 */
export function fromValue(value: unknown, shape?: Shape): unknown {
  const form = toldForm(shape)
  if (form) return fromForm(form, value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (isTagged(value)) return plain(value)
  if (value instanceof RegExp) return String(value)
  const members = value as Record<string, unknown>
  const isList = Array.isArray(value)
  for (const key of Object.keys(members)) {
    const inner = shape && shapeInside(shape, isList ? Number(key) : key, members[key])
    // Another program may keep a list where the model declares one value.
    members[key] = fromValue(members[key], isList ? (inner ?? shape) : inner)
  }
  return members
}

/** The same at a place of a declared type; values of other types are read as they are anywhere. */
function fromForm(form: StoredForm, value: unknown): unknown {
  const tag = typeof value === 'object' && value && isTagged(value) ? value._bsontype : typeof value
  const isNumber = tag === 'number' || tag === 'Decimal128' || tag === 'Long'
  if (isNumber && (form === 'long' || form === 'decimal128')) return String(value)
  if (tag === 'Binary' && form === 'binary') return (value as Tagged).toString('base64')
  return fromValue(value)
}

/** Whether this is a BSON value: a client's `_bsontype` key is an own property, bson's is inherited from its class. */
export function isTagged(value: object): value is Tagged {
  return '_bsontype' in value && !Object.hasOwn(value, '_bsontype')
}

function plain(value: Tagged): unknown {
  switch (value._bsontype) {
    case 'ObjectId':
      return value.toHexString?.()
    case 'Long':
    case 'Decimal128':
      return Number(value.toString())
    case 'Binary':
      return value.sub_type === 4 ? value.toUUID?.().toString() : value.toString('base64')
    default:
      return value.toJSON?.() ?? null
  }
}

/** Whether a record of this shape holds values whose JSON the BSON alone does not tell. */
const holdsStored = madeOnce((shape: Shape): boolean => {
  const isTold = (form: StoredForm | undefined) => form !== undefined && form !== 'double'
  return partsOf(shape).some((part) => isTold(toldForm(part)) || holdsStored(part))
})

/** The type of BSON that a record's value is read from. */
function toldForm(shape: Shape | undefined): StoredForm | undefined {
  return shape?.kind === 'id' && shape.idType === 'integer' ? 'long' : formOf(shape)
}

export function partsOf(shape: Shape): readonly Shape[] {
  if (shape.kind === 'object') return [...shape.fields.values()]
  if (shape.kind === 'list') return [shape.element]
  return shape.kind === 'map' ? [shape.value] : []
}

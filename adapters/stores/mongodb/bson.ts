/**
 * BSON as bytes, for those who want no objects of it.
 *
 * @module
 */

import { Buffer } from 'node:buffer'

/** BSON to be read. */
export interface Bson {
  readonly bytes: Uint8Array
  readonly view: DataView
}

/** BSON's types that are not rare, as its specification numbers them. */
export const DOUBLE = 0x01
export const STRING = 0x02
export const OBJECT = 0x03
export const ARRAY = 0x04
export const OBJECT_ID = 0x07
export const BOOLEAN = 0x08
export const DATE = 0x09
export const NULL = 0x0a
export const INT32 = 0x10
const TIMESTAMP = 0x11
export const INT64 = 0x12

/** `bytes` to be read. */
export function bsonOf(bytes: Uint8Array): Bson {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

/** The first position after the name that begins at `at`. */
export function afterName({ bytes }: Bson, at: number): number {
  let end = at
  while (bytes[end] !== 0) end += 1
  return end + 1
}

/** Whether `name` stands at `at`. */
export function isName({ bytes }: Bson, at: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if (bytes[at + index] !== name[index]) return false
  }
  return bytes[at + name.length] === 0
}

/** The text of the bytes from `from` to `to`. */
export function textIn({ bytes }: Bson, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString()
}

/** The bytes of a value of `type` at `at`; -1 for a type that is rare. */
export function lengthOf({ view }: Bson, type: number, at: number): number {
  switch (type) {
    case DOUBLE:
    case DATE:
    case INT64:
    case TIMESTAMP:
      return 8
    case STRING:
      return 4 + view.getInt32(at, true)
    case OBJECT:
    case ARRAY:
      return view.getInt32(at, true)
    case OBJECT_ID:
      return 12
    case BOOLEAN:
      return 1
    case NULL:
      return 0
    case INT32:
      return 4
    default:
      return -1
  }
}

/** A whole number of 64 bits at `at`, rounded as JavaScript rounds. */
export function int64({ view }: Bson, at: number): number {
  return view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true)
}

/** The members of the object or list that begins at `start`, up to the first of a rare type. */
export function membersIn(bson: Bson, start: number): { name: string; at: number }[] {
  const members: { name: string; at: number }[] = []
  let at = start + 4
  for (let type = bson.bytes[at]; type; type = bson.bytes[at]) {
    const name = at + 1
    at = afterName(bson, name)
    members.push({ name: textIn(bson, name, at - 1), at })
    const length = lengthOf(bson, type, at)
    if (length < 0) break
    at += length
  }
  return members
}

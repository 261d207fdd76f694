/**
 * The names of members in the order of BSON: a JavaScript object has those that are whole numbers before the others.
 *
 * @module
 */

import { Buffer } from 'node:buffer'

/** The bytes of a value, by the number of its type; those that are not here say their length themselves, or are rare. */
const LENGTHS: Readonly<Record<number, number>> = {
  1: 8, // double
  7: 12, // ObjectId
  8: 1, // boolean
  9: 8, // date
  10: 0, // null
  16: 4, // int32
  17: 8, // timestamp
  18: 8, // int64
}
const STRING = 2
const OBJECT = 3
const ARRAY = 4

/** The names in the document that begins at `start`, with the positions of their values, up to the first of a rare type. */
export function membersIn(bytes: Uint8Array, start = 0): { name: string; at: number }[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const members: { name: string; at: number }[] = []
  let at = start + 4
  for (let type = buffer[at]; type; type = buffer[at]) {
    const end = buffer.indexOf(0, at + 1)
    members.push({ name: buffer.toString('utf8', at + 1, end), at: end + 1 })
    const length = lengthOf(buffer, type, end + 1)
    if (length === undefined) break
    at = end + 1 + length
  }
  return members
}

function lengthOf(buffer: Buffer, type: number, at: number): number | undefined {
  if (type === STRING) return 4 + buffer.readInt32LE(at)
  return type === OBJECT || type === ARRAY ? buffer.readInt32LE(at) : LENGTHS[type]
}

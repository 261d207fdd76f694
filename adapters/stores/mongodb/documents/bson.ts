/**
 * BSON as records in one pass. The driver's reader takes twice as long: it makes an object of every id, which becomes a string
 * afterwards, and reads the names of all documents anew.
 */

import { Buffer } from 'node:buffer'
import type { BSONSerializeOptions } from 'mongodb'

/**
 * For all calls that return documents. Without it, the driver leaves the objects in a list under a name that every object has,
 * as `valueOf`, as their bytes.
 */
export const NONE_AS_BYTES: BSONSerializeOptions = { fieldsAsRaw: Object.create(null) }

/** What the driver makes something else of: references have names with a dollar. */
const RARE_NAME = /^\$|^__proto__$/

/**
 * For a `find` whose documents are read here. Not `raw`: it leaves errors as bytes too, and of one that says that the primary
 * has stepped down, the driver (7.8) then can't compare the time with others, and throws.
 */
export const DOCUMENTS_AS_BYTES: BSONSerializeOptions = { fieldsAsRaw: { firstBatch: true } }

/** Names that were read, by a hash of their bytes: the documents of a collection have the same ones. */
const names = new Map<number, string>()
const MOST_NAMES = 5000

/** Reads a document, once. */
export class BsonReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  #at = 0
  #isRare = false

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#view = new DataView(buffer, byteOffset, byteLength)
  }

  /** The object, with ids as strings and numbers as JavaScript's; undefined if there is a rare type or name in it. */
  document(): Record<string, unknown> | undefined {
    const object: Record<string, unknown> = {}
    this.#at += 4
    for (let type = this.#type(); type; type = this.#type()) {
      const name = this.#name()
      object[name] = this.#value(type)
      if (this.#isRare) return undefined
    }
    return object
  }

  /** The names of its members, in their order, up to the first of a rare type. */
  names(): string[] {
    const found: string[] = []
    this.#at += 4
    for (let type = this.#type(); type && !this.#isRare; type = this.#type()) {
      found.push(this.#name())
      this.#value(type)
    }
    return found
  }

  #list(): unknown[] {
    const list: unknown[] = []
    this.#at += 4
    for (let type = this.#type(); type && !this.#isRare; type = this.#type()) {
      while (this.#bytes[this.#at] !== 0) this.#at += 1
      this.#at += 1
      list.push(this.#value(type))
    }
    return list
  }

  #type(): number | undefined {
    this.#at += 1
    return this.#bytes[this.#at - 1]
  }

  #name(): string {
    const bytes = this.#bytes
    const from = this.#at
    let end = from
    let hash = 0
    for (let byte = bytes[end]; byte; byte = bytes[end]) {
      hash = (hash * 31 + byte) | 0
      end += 1
    }
    this.#at = end + 1
    const known = names.get(hash)
    if (known !== undefined && this.#holds(known, from, end)) return known
    const name = bytes.toString('utf8', from, end)
    if (RARE_NAME.test(name)) this.#isRare = true
    else if (names.size < MOST_NAMES) names.set(hash, name)
    return name
  }

  /** Whether the bytes are those of `text`, which a text beyond ASCII never seems to be. */
  #holds(text: string, from: number, end: number): boolean {
    if (text.length !== end - from) return false
    for (let at = from; at < end; at += 1) {
      if (this.#bytes[at] !== text.charCodeAt(at - from)) return false
    }
    return true
  }

  /** The value at the position, after which the next member begins. */
  #value(type: number): unknown {
    const [view, at] = [this.#view, this.#at]
    switch (type) {
      case 0x01: // a double
        this.#at += 8
        return view.getFloat64(at, true)
      case 0x02: // a string
        this.#at += 4 + view.getInt32(at, true)
        return this.#bytes.toString('utf8', at + 4, this.#at - 1)
      case 0x03: // an object
        return this.document()
      case 0x04: // a list
        return this.#list()
      case 0x07: // an ObjectId
        this.#at += 12
        return this.#bytes.toString('hex', at, at + 12)
      case 0x08: // a boolean
        this.#at += 1
        return this.#bytes[at] === 1
      case 0x09: // a date
        return new Date(this.#integer())
      case 0x0a: // null
        return null
      case 0x10: // an integer of 32 bits
        this.#at += 4
        return view.getInt32(at, true)
      case 0x12: // an integer of 64 bits
        return this.#integer()
      default:
        this.#isRare = true
        return undefined
    }
  }

  /** An integer of 64 bits, rounded as JavaScript rounds. */
  #integer(): number {
    this.#at += 8
    const [low, high] = [this.#at - 8, this.#at - 4]
    return this.#view.getInt32(high, true) * 2 ** 32 + this.#view.getUint32(low, true)
  }
}

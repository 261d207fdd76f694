/**
 * The JSON of documents straight from their BSON. To make objects of fifty documents, and text of these, takes longer than
 * everything else that a list does.
 *
 * @module
 */

import { Buffer } from 'node:buffer'
import type { Declared } from '../../../src/ports/declared.ts'
import {
  ARRAY,
  afterName,
  BOOLEAN,
  type Bson,
  bsonOf,
  DATE,
  DOUBLE,
  INT32,
  INT64,
  int64,
  isName,
  lengthOf,
  NULL,
  OBJECT,
  OBJECT_ID,
  STRING,
  textIn,
} from './bson.ts'
import { JsonBytes } from './json-bytes.ts'

/** Longer documents are left to others, so that the buffer stays small. */
const LONGEST = 256 * 1024
/** The most bytes of JSON for a byte of BSON: a control character as `\u0001`. */
const GROWTH = 6

const COMMA = 0x2c
const ID = Buffer.from('_id')
/** Objects have names that are whole numbers before all others, and the driver makes references of some with a dollar. */
const RARE_NAME = /^[\d$]/

/** What is shown at a place; undefined if everything is. */
type Place = Declared | undefined

/** A member that is shown. */
interface Member {
  readonly name: Uint8Array
  /** The name with its quotes and colon. */
  readonly start: Uint8Array
  readonly place: Place
  /** Its place in the model's order, if the model names it. */
  readonly at: number | undefined
  /** Whether a default stands for it where it is missing. */
  readonly hasDefault: boolean
}

/** The members that a place declares. */
interface Members {
  readonly inOrder: readonly Member[]
  readonly byName: ReadonlyMap<string, Member | undefined>
  /** How many have a default. */
  readonly defaults: number
}

/** Whether a value was written. One that is refused cannot be written here. */
type Outcome = 'written' | 'left out' | 'refused'

/** Writes documents, as `onlyDeclared` shows them. */
export class JsonWriter {
  readonly #declared: Declared
  readonly #hidden: ReadonlySet<string>
  readonly #isFilled: boolean
  readonly #json = new JsonBytes()
  #bson: Bson = bsonOf(new Uint8Array())

  /** `hidden` names members of documents that are never shown. If `isFilled`, no default may be missing. */
  constructor(declared: Declared, hidden: ReadonlySet<string>, isFilled: boolean) {
    this.#declared = declared
    this.#hidden = hidden
    this.#isFilled = isFilled
  }

  /**
   * The JSON of the document at `at`. Undefined for one that is long, lacks a default, does not begin with `_id`, or holds what
   * is rare: types without a JSON of their own, and names that begin with a digit or `$`.
   */
  document(bson: Bson, at: number): string | undefined {
    const length = bson.view.getInt32(at, true)
    if (length > LONGEST || !isName(bson, at + 5, ID)) return undefined
    this.#bson = bson
    this.#json.restart(length * GROWTH)
    const isWritten = this.#object(at, shownAt(this.#declared), this.#hidden) === 'written'
    return isWritten ? this.#json.toString() : undefined
  }

  #object(start: number, place: Place, hidden?: ReadonlySet<string>): Outcome {
    if (place?.open) return 'refused'
    if (place && !place.members && !place.rest) return 'left out'
    const members = place ? membersAt(place) : NONE
    let lacking = this.#isFilled ? members.defaults : 0
    let expected = 0
    const outcome = this.#items(start, '{}', (type, name, at) => {
      const next = members.inOrder[expected]
      const isNext = next !== undefined && isName(this.#bson, name, next.name)
      const member = isNext ? next : this.#named(textIn(this.#bson, name, at - 1), place, hidden)
      if (member === 'refused' || member === 'left out') return member
      if (member.at !== undefined) expected = member.at + 1
      this.#json.copy(member.start)
      const written = this.#value(type, at, member.place)
      if (written === 'written' && member.hasDefault) lacking -= 1
      return written
    })
    return lacking > 0 ? 'refused' : outcome
  }

  /** The member of that name, if it is shown. */
  #named(
    name: string,
    place: Place,
    hidden: ReadonlySet<string> | undefined,
  ): Member | 'left out' | 'refused' {
    if (RARE_NAME.test(name)) return 'refused'
    if (hidden?.has(name)) return 'left out'
    const declared = place && membersAt(place).byName.get(name)
    if (declared) return declared
    if (place && (!place.rest || name === '__proto__')) return 'left out'
    return memberOf(name, place?.rest && shownAt(place.rest))
  }

  #array(start: number, place: Place): Outcome {
    if (place?.open) return 'refused'
    const element = place?.elements ? shownAt(place.elements) : place
    return this.#items(start, '[]', (type, _, at) => this.#value(type, at, element))
  }

  /** Writes an object or list; `write` gets the type of each member, and where its name and its value begin. */
  #items(
    start: number,
    brackets: '{}' | '[]',
    write: (type: number, name: number, at: number) => Outcome,
  ): Outcome {
    const [bson, json] = [this.#bson, this.#json]
    let isFirst = true
    let next = start + 4
    json.byte(brackets.charCodeAt(0))
    for (let type = bson.bytes[next]; type; type = bson.bytes[next]) {
      const name = next + 1
      const at = afterName(bson, name)
      const length = lengthOf(bson, type, at)
      if (length < 0) return 'refused'
      const { end } = json
      if (!isFirst) json.byte(COMMA)
      const outcome = write(type, name, at)
      if (outcome === 'refused') return outcome
      if (outcome === 'written') isFirst = false
      else json.end = end
      next = at + length
    }
    json.byte(brackets.charCodeAt(1))
    return 'written'
  }

  #value(type: number, at: number, place: Place): Outcome {
    const [bson, json] = [this.#bson, this.#json]
    switch (type) {
      case STRING:
        json.string(bson, at + 4, at + 3 + bson.view.getInt32(at, true))
        break
      case DOUBLE:
        json.number(bson.view.getFloat64(at, true))
        break
      case INT32:
        json.number(bson.view.getInt32(at, true))
        break
      case INT64:
        json.number(int64(bson, at))
        break
      case OBJECT_ID:
        json.hexadecimal(bson, at, at + 12)
        break
      case DATE:
        json.date(bson, at)
        break
      case BOOLEAN:
        json.ascii(bson.bytes[at] === 1 ? 'true' : 'false')
        break
      case NULL:
        json.ascii('null')
        break
      case OBJECT:
        return this.#object(at, place)
      case ARRAY:
        return this.#array(at, place)
      default:
        return 'refused'
    }
    return 'written'
  }
}

const NONE: Members = { inOrder: [], byName: new Map(), defaults: 0 }

const known = new WeakMap<Declared, Members>()

function membersAt(place: Declared): Members {
  const found = known.get(place)
  if (found) return found
  const named = [...(place.members ?? [])].filter(([name]) => !RARE_NAME.test(name))
  const inOrder = named.map(([name, declared], at) => ({
    ...memberOf(name, shownAt(declared)),
    at,
    hasDefault: place.defaults?.has(name) ?? false,
  }))
  const byName = new Map(named.map(([name], at) => [name, inOrder[at]]))
  const made = { inOrder, byName, defaults: place.defaults?.size ?? 0 }
  known.set(place, made)
  return made
}

function memberOf(name: string, place: Place): Member {
  const start = Buffer.from(`${JSON.stringify(name)}:`)
  return { name: Buffer.from(name), start, place, at: undefined, hasDefault: false }
}

/** Nothing inside an open place is looked at, unless it has defaults, which is rare. */
function shownAt(declared: Declared): Place {
  return declared.open && !declared.defaults?.size ? undefined : declared
}

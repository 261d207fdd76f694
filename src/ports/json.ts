/**
 * Long JSON, parsed and written in slices: some JSON is parsed at only two megabytes a second.
 *
 * @module
 */

import { type Bounds, type Large, partsOf } from './json-pieces.ts'
import { setMember } from './members.ts'
import { isLarge, Slices } from './slices.ts'

/** Characters parsed at once. */
const PIECE = 16 * 1024
/** Characters per step. */
const STEP = 16

/** The result of `JSON.parse(text)`, or its `SyntaxError`. Throws `TooManyKeys` beyond `bounds`. */
export async function parseInSlices(text: string, bounds: Partial<Bounds> = {}): Promise<unknown> {
  const all = { piece: PIECE, nesting: Infinity, keys: Infinity, ...bounds }
  const large = text.length > all.piece || all.nesting < Infinity ? partsOf(text, all) : undefined
  return large ? assembled(text, large, new Slices()) : JSON.parse(text)
}

/** The contents of a list or an object: the members of several parts, and each large one on its own. */
async function assembled(text: string, { isList, parts }: Large, slices: Slices): Promise<unknown> {
  const list: unknown[] = []
  const object: Record<string, unknown> = {}
  for (const part of parts) {
    const piece = text.slice(part.from, part.to)
    if ('large' in part) {
      const key = keyBefore(piece, isList)
      const value = await assembled(text, part.large, slices)
      if (isList) list.push(value)
      else setMember(object, key, value)
      continue
    }
    const members = isList ? addElements(list, piece) : addMembers(object, piece)
    // A comma at the end, or two in a row.
    if (members === 0 && !part.isAll) throw new SyntaxError('a comma too many')
    if (slices.isOver(piece.length / STEP)) await slices.next()
  }
  return isList ? list : object
}

/** Checks what comes before a large value; in an object that is its key. */
function keyBefore(piece: string, isList: boolean): string {
  const before = JSON.parse(isList ? `[${piece}null]` : `{${piece}null}`) as object
  return Object.keys(before)[0] as string
}

/** Adds the elements of a piece of a list; returns how many there were. */
function addElements(list: unknown[], piece: string): number {
  const elements = JSON.parse(`[${piece}]`) as unknown[]
  for (const element of elements) list.push(element)
  return elements.length
}

/** Adds the members of a piece of an object; returns how many there were. */
function addMembers(object: Record<string, unknown>, piece: string): number {
  const members = Object.entries(JSON.parse(`{${piece}}`) as object)
  for (const [key, value] of members) setMember(object, key, value)
  return members.length
}

/** Elements written at once, none of them large. */
const AT_ONCE = 100

/** The result of `JSON.stringify(value)`; undefined if the value has no JSON. */
export async function stringifyInSlices(
  value: unknown,
  slices: Slices = new Slices(),
): Promise<string | undefined> {
  if (!isLarge(value) || 'toJSON' in value) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(await elementTexts(value, slices)).join(',')}]`
  const texts: string[] = []
  // No list of entries per object: with ten thousand keys, the garbage costs time too.
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key]
    const text = isLarge(member) ? await stringifyInSlices(member, slices) : JSON.stringify(member)
    if (text === undefined) continue
    texts.push(`${JSON.stringify(key)}:${text}`)
    if (slices.isOver()) await slices.next()
  }
  return `{${texts.join(',')}}`
}

async function elementTexts(list: readonly unknown[], slices: Slices): Promise<string[]> {
  const texts: string[] = []
  let from = 0
  const flush = (to: number): void => {
    if (to > from) texts.push(JSON.stringify(list.slice(from, to)).slice(1, -1))
    from = to
  }
  for (let at = 0; at < list.length; at += 1) {
    if (isLarge(list[at])) {
      flush(at)
      texts.push((await stringifyInSlices(list[at], slices)) ?? 'null')
      from = at + 1
    } else if (at - from >= AT_ONCE) {
      flush(at)
      if (slices.isOver(AT_ONCE)) await slices.next()
    }
  }
  flush(list.length)
  return texts
}

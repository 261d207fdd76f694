/**
 * Where long JSON may be cut, so that it need not be parsed in one go.
 *
 * @module
 */

/** Limits for the JSON. */
export interface Bounds {
  /** Characters per piece. */
  readonly piece: number
  /** How deeply lists and objects may nest. */
  readonly nesting: number
  /** How many keys one object may have. */
  readonly keys: number
}

/** Thrown for an object with more keys than allowed. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys'
}

/** A container longer than one piece, as its parts in order. */
export interface Large {
  readonly isList: boolean
  readonly parts: readonly Part[]
}

/**
 * Either some members, cut from one comma to another, or one large member with what comes before it. `isAll` if the
 * container has nothing else, so that it may even be empty.
 */
export type Part =
  | { readonly from: number; readonly to: number; readonly isAll: boolean }
  | { readonly from: number; readonly to: number; readonly large: Large }

/** A container that has been opened. */
interface Frame {
  open: number
  isList: boolean
  /** Where the JSON begins that is in no part yet. */
  from: number
  /** Where the last member begins. */
  member: number
  /** Where the JSON after a large member begins, up to the next comma or the end; -1 anywhere else. */
  after: number
  commas: number
  parts: Part[]
}

const BLANK = /^[\t\n\r ]*$/
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_LIST = 0x5d
const CLOSE_OBJECT = 0x7d

/**
 * The parts of JSON whose value is a container longer than one piece; undefined for any other JSON, which is to be
 * parsed as a whole. The caller must parse each part too: this only finds where values begin and end. Throws
 * `TooManyKeys`, and a `SyntaxError` for JSON that nests too deeply and for some invalid JSON.
 */
export function partsOf(text: string, bounds: Bounds): Large | undefined {
  const scan = new Scan(text, bounds)
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at)
        break
      case COMMA:
        scan.comma(at)
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        scan.open(at, text.charCodeAt(at) === OPEN_LIST)
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        scan.close(at, text.charCodeAt(at) === CLOSE_LIST)
        break
      default:
    }
  }
  return scan.end()
}

class Scan {
  readonly #text: string
  readonly #bounds: Bounds
  readonly #frames: Frame[] = []
  #depth = 0
  #root: Large | undefined
  #rest = 0

  constructor(text: string, bounds: Bounds) {
    this.#text = text
    this.#bounds = bounds
  }

  open(at: number, isList: boolean): void {
    if (this.#root || this.#depth >= this.#bounds.nesting) throw invalid()
    const frame = this.#frames[this.#depth]
    this.#depth += 1
    if (!frame) {
      this.#frames.push(frameAt(at, isList))
      return
    }
    // Frames are reused: JSON may open a container at every other character.
    frame.open = at
    frame.isList = isList
    frame.from = at + 1
    frame.member = at + 1
    frame.after = -1
    frame.commas = 0
  }

  comma(at: number): void {
    const frame = this.#frames[this.#depth - 1]
    if (this.#depth === 0 || !frame) throw invalid()
    frame.commas += 1
    frame.member = at + 1
    if (frame.after >= 0) {
      this.#mustBeBlank(frame.after, at)
      frame.after = -1
      frame.from = at + 1
    } else if (at - frame.from >= this.#bounds.piece) {
      frame.parts.push({ from: frame.from, to: at, isAll: false })
      frame.from = at + 1
    }
  }

  close(at: number, isList: boolean): void {
    const frame = this.#frames[this.#depth - 1]
    if (this.#depth === 0 || frame?.isList !== isList) throw invalid()
    if (!isList && frame.commas >= this.#bounds.keys) throw new TooManyKeys()
    this.#depth -= 1
    if (at - frame.open > this.#bounds.piece) this.#closeLarge(frame, at)
  }

  end(): Large | undefined {
    if (this.#depth > 0) throw invalid()
    if (this.#root) this.#mustBeBlank(this.#rest, this.#text.length)
    return this.#root
  }

  #closeLarge(frame: Frame, at: number): void {
    const { isList, open, from, after, parts } = frame
    if (after >= 0) this.#mustBeBlank(after, at)
    else parts.push({ from, to: at, isAll: from === open + 1 })
    const large = { isList, parts }
    frame.parts = []
    const parent = this.#frames[this.#depth - 1]
    if (this.#depth === 0 || !parent) {
      this.#mustBeBlank(0, open)
      this.#root = large
      this.#rest = at + 1
      return
    }
    if (parent.after >= 0) throw invalid()
    if (parent.member > parent.from) {
      parent.parts.push({ from: parent.from, to: parent.member - 1, isAll: false })
    }
    parent.parts.push({ from: parent.member, to: open, large })
    parent.after = at + 1
  }

  #mustBeBlank(from: number, to: number): void {
    if (!BLANK.test(this.#text.slice(from, to))) throw invalid()
  }
}

function invalid(): SyntaxError {
  return new SyntaxError('not JSON')
}

function frameAt(open: number, isList: boolean): Frame {
  return { open, isList, from: open + 1, member: open + 1, after: -1, commas: 0, parts: [] }
}

function endOfText(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; ) {
    at += code === BACKSLASH ? 2 : 1
    code = text.charCodeAt(at)
  }
  return at
}

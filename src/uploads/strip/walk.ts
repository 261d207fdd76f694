/** Walks through a file's bytes as they arrive, in chunks of any size, with little memory. */

import { joined } from '../../ports/values/bytes.ts'

const NONE = new Uint8Array()
const FF = 0xff
/** Enough for an image of a gigabyte. A file with more steps loses the rest, which no viewer would draw. */
const MAX_STEPS = 450_000
/** Lower values are stuffed bytes and codes that no image has; they are data (ITU T.81, table B.1). */
const FIRST_MARKER = 0xc0
const RST0 = 0xd0
const RST7 = 0xd7

/** The bytes of a file that stay, piece by piece. Each is valid until the next one is asked for. */
export type Pieces<Result = void> = AsyncGenerator<Uint8Array, Result, void>

/** Takes the bytes of a file out, one after the other. A count may go beyond the end of the file. */
export class Walk {
  /** How many bytes have arrived. */
  came = 0
  hasDropped = false
  readonly #chunks: AsyncGenerator<Uint8Array, void>
  /** What of the last chunk has not been taken out. */
  #left: Uint8Array = NONE
  #steps = 0

  constructor(chunks: AsyncGenerator<Uint8Array, void>) {
    this.#chunks = chunks
  }

  /** Leaves the rest where it is. */
  async end(): Promise<void> {
    await this.#chunks.return()
  }

  /** A copy of the next `count` bytes; fewer if the file ends. */
  async read(count: number): Promise<Uint8Array> {
    await this.#has(count)
    return new Uint8Array(this.#take(count))
  }

  async *keep(count: number): Pieces {
    for (let left = count; left > 0 && (await this.#has(1)); ) {
      const piece = this.#take(left)
      left -= piece.length
      yield piece
    }
  }

  async drop(count: number): Promise<void> {
    for await (const _ of this.keep(count)) this.hasDropped = true
  }

  /** Keeps or drops everything before the next JPEG marker; returns its two bytes, or none at the end. */
  async *seek(keeps: boolean): Pieces<Uint8Array> {
    for (;;) {
      const isThere = await this.#has(2)
      const before = this.#take(isThere ? markerIn(this.#left) : this.#left.length)
      if (keeps) yield before
      else this.hasDropped ||= before.length > 0
      if (!isThere) return NONE
      if (this.#left.length > 1) return new Uint8Array(this.#take(2))
    }
  }

  #take(count: number): Uint8Array {
    const taken = this.#left.subarray(0, count)
    this.#left = this.#left.subarray(count)
    return taken
  }

  /** Whether there are `count` bytes, for which it waits. */
  async #has(count: number): Promise<boolean> {
    this.#steps += 1
    if (this.#steps > MAX_STEPS) {
      this.#left = NONE
      this.hasDropped = true
      return false
    }
    while (this.#left.length < count) {
      const { done, value } = await this.#chunks.next()
      if (done) return false
      this.came += value.length
      this.#left = this.#left.length === 0 ? value : joined([this.#left, value])
    }
    return true
  }
}

/** Where a marker begins, or may begin with the last byte; else the end. Any number of 0xFF may come before it. */
function markerIn(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(FF); at >= 0; at = bytes.indexOf(FF, at + 1)) {
    const code = bytes[at + 1] ?? FIRST_MARKER
    if (code >= FIRST_MARKER && code !== FF && (code < RST0 || code > RST7)) return at
  }
  return bytes.length
}

export function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false
  for (let at = 0; at < text.length; at += 1) if (bytes[at] !== text.charCodeAt(at)) return false
  return true
}

export function numbersIn(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

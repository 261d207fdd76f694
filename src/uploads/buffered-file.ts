/** The bytes of one part until it is known whether they are needed: in memory, or staged by the file store if it can. */

import type { Stage } from '../ports/services/files.ts'
import { streamOf } from '../ports/values/bytes.ts'

/** Bytes are copied into blocks, so a body that arrives in single bytes costs no more than one in one piece. */
export const FILE_BLOCK: number = 64 * 1024
export const TEXT_BLOCK: number = 4 * 1024

/** Larger parts are staged; for smaller ones a file on disk would cost more than the memory. */
const IN_MEMORY = 256 * 1024

export class BufferedFile {
  size = 0
  readonly #block: number
  readonly #open: (() => Promise<Stage>) | undefined
  #stage: Stage | undefined
  readonly #blocks: Uint8Array[] = []

  /** `open` starts staging the bytes. Without it all of them stay in memory. */
  constructor(block: number, open?: () => Promise<Stage>) {
    this.#block = block
    this.#open = open
  }

  /** Appends a copy of `chunk`. */
  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#stage && this.#open && this.size + chunk.length > IN_MEMORY) {
      this.#stage = await this.#open()
      for (const block of this.#filled()) await this.#stage.write(block)
      // The first block stays in memory, filled, so that the type can be detected.
      this.#keep(chunk.subarray(0, Math.max(0, this.#block - this.size)))
      this.#blocks.length = 1
    }
    if (this.#stage) await this.#stage.write(chunk)
    else this.#keep(chunk)
    this.size += chunk.length
  }

  /** The first bytes, up to the size of one block. */
  head(): Uint8Array {
    return this.#blocks[0]?.subarray(0, this.size) ?? new Uint8Array()
  }

  stream(): ReadableStream<Uint8Array> {
    return this.#stage?.read() ?? streamOf(this.#filled())
  }

  async discard(): Promise<void> {
    this.#blocks.length = 0
    await this.#stage?.discard()
  }

  #keep(chunk: Uint8Array): void {
    for (let from = 0, at = this.size; from < chunk.length; ) {
      const offset = at % this.#block
      const index = (at - offset) / this.#block
      const block = this.#blocks[index] ?? new Uint8Array(this.#block)
      this.#blocks[index] = block
      const part = chunk.subarray(from, from + this.#block - offset)
      block.set(part, offset)
      from += part.length
      at += part.length
    }
  }

  *#filled(): Generator<Uint8Array, void> {
    const size = this.size
    for (const [index, block] of this.#blocks.entries()) {
      yield block.subarray(0, size - index * this.#block)
    }
  }
}

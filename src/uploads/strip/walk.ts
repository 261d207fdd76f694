/** Walks through a file's bytes as they arrive and keeps some of them, in any number of chunks, with little memory. */

const NONE = new Uint8Array()

/** What a walk does next. A count may go beyond the end of the file. */
export type Step =
  /** Takes `count` bytes out and passes them to the next step; fewer if the file ends. */
  | { readonly do: 'read'; readonly count: number }
  | { readonly do: 'keep' | 'drop'; readonly count: number }
  /** Adds bytes to what is kept. */
  | { readonly do: 'put'; readonly bytes: Uint8Array }
  /** Keeps or drops everything before the next JPEG marker and passes on its two bytes, or none at the end. */
  | { readonly do: 'seek'; readonly keeps: boolean }

/** The steps through one file; when they end, the rest is dropped. */
export type Steps<Result = void> = Generator<Step, Result, Uint8Array>

/** Takes `count` bytes out; fewer if the file ends. */
export function* read(count: number): Steps<Uint8Array> {
  return yield { do: 'read', count }
}

/** Takes out the two bytes of the next JPEG marker; none at the end. */
export function* seek(keeps: boolean): Steps<Uint8Array> {
  return yield { do: 'seek', keeps }
}

/** Keeps the next `count` bytes, after `head`, which has been taken out. */
export function* keep(count: number, head: Uint8Array): Steps {
  yield { do: 'put', bytes: head }
  yield { do: 'keep', count }
}

export function* drop(count: number): Steps {
  yield { do: 'drop', count }
}

export function* put(bytes: Uint8Array): Steps {
  yield { do: 'put', bytes }
}

const FF = 0xff
/** Enough for an image of a gigabyte. A file with more steps loses the rest, which no viewer would draw. */
const MAX_STEPS = 600_000
/** Lower values are stuffed bytes and codes that no image has; they are data (ITU T.81, table B.1). */
const FIRST_MARKER = 0xc0
const RST0 = 0xd0
const RST7 = 0xd7

export class Walk {
  /** How many bytes have been kept or added. */
  size = 0
  /** How many have arrived. */
  #came = 0
  #dropped = false
  #count = 0
  readonly #steps: Steps
  readonly #sink: (bytes: Uint8Array) => void
  #step: Step | undefined
  /** Of the current step: bytes still to come. */
  #left = 0
  /** Of a `read`: the bytes that have arrived. */
  #taken: Uint8Array = NONE
  /** Of a `seek`: whether the last byte may be the first of a marker. */
  #begun = false

  /** `sink` takes kept bytes, which are valid only until it returns. */
  constructor(steps: Steps, sink: (bytes: Uint8Array) => void) {
    this.#steps = steps
    this.#sink = sink
    this.#next(NONE)
  }

  /** Whether what is kept differs from what came. */
  get changed(): boolean {
    return this.#dropped || this.#came !== this.size
  }

  write(chunk: Uint8Array): void {
    this.#came += chunk.length
    for (let at = 0; at < chunk.length; ) {
      const step = this.#step
      at = step?.do === 'seek' ? this.#seek(chunk, at, step.keeps) : this.#pass(chunk, at)
    }
  }

  end(): void {
    const step = this.#step
    if (!step) return
    if (step.do === 'seek' && this.#begun) this.#emit(Uint8Array.of(FF), step.keeps)
    // The bytes that a read still waits for will not come.
    if (step.do === 'read') this.#next(this.#taken.slice(0, step.count - this.#left))
    else this.#next(NONE)
    while (this.#step) this.#next(NONE)
  }

  #pass(chunk: Uint8Array, at: number): number {
    const step = this.#step
    const count = step ? Math.min(this.#left, chunk.length - at) : chunk.length - at
    const bytes = chunk.subarray(at, at + count)
    if (step?.do === 'read') this.#taken.set(bytes, step.count - this.#left)
    else this.#emit(bytes, step?.do === 'keep')
    this.#left -= count
    if (step && this.#left === 0) this.#next(this.#taken)
    return at + count
  }

  #seek(chunk: Uint8Array, from: number, keeps: boolean): number {
    let at = from
    if (this.#begun) {
      const code = chunk[at] as number
      if (code >= FIRST_MARKER && code !== FF && (code < RST0 || code > RST7)) {
        this.#begun = false
        this.#next(Uint8Array.of(FF, code))
        return at + 1
      }
      // Any number of 0xFF may come before a marker.
      if (keeps) this.#emit(Uint8Array.of(FF), true)
      if (code === FF) return at + 1
      this.#begun = false
    }
    at = chunk.indexOf(FF, at)
    const end = at < 0 ? chunk.length : at
    this.#emit(chunk.subarray(from, end), keeps)
    this.#begun = at >= 0
    return this.#begun ? end + 1 : end
  }

  #emit(bytes: Uint8Array, keeps: boolean): void {
    if (bytes.length === 0) return
    if (keeps) this.#put(bytes)
    else this.#dropped = true
  }

  #put(bytes: Uint8Array): void {
    this.size += bytes.length
    this.#sink(bytes)
  }

  /** Goes on to the next step that needs bytes. */
  #next(result: Uint8Array): void {
    let next = this.#steps.next(result)
    while (!next.done && !this.#begins(next.value)) next = this.#steps.next(NONE)
    this.#step = next.done || this.#count > MAX_STEPS ? undefined : next.value
  }

  /** Whether `step` has to wait for bytes; if not, it has been done. */
  #begins(step: Step): boolean {
    this.#count += 1
    if (step.do === 'put') this.#put(step.bytes)
    if (step.do === 'put' || step.do === 'seek') return step.do === 'seek'
    if (step.do === 'read') this.#taken = new Uint8Array(step.count)
    this.#left = step.count
    return step.count > 0
  }
}

/** Whether `bytes` begin with the ASCII string `text`. */
export function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false
  for (let at = 0; at < text.length; at += 1) if (bytes[at] !== text.charCodeAt(at)) return false
  return true
}

export function numbersIn(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Bodies of responses that write themselves where the runtime has something to write to: a web stream of Node takes several
 * kilobytes, which many open responses add up to.
 */

/** What a body writes itself to, such as a response of node:http. */
export interface Outlet {
  /** Takes some of it; returns false if nothing more is wanted until `drain`. */
  write(text: string): boolean
  end(): unknown
  destroy(error: Error): unknown
  on(event: 'drain' | 'close' | 'error', listener: () => void): unknown
}

/** A body that can be had as a stream or write itself, once. */
export interface PipedBody {
  pipe<T extends Outlet>(outlet: T): T
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>
  /** Nobody is there any more to read it. */
  destroy(): void
}

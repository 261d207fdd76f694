/** A response of events (`text/event-stream`), which are kept while the client does not read. */

import type { Outlet, PipedBody } from '../../ports/services/piped-body.ts'

/** The most characters of events that wait for a client before another one comes. */
const MOST_WAITING = 1024 * 1024

/** Milliseconds until a client connects again. Like comments, a line of the next event: for httpx-sse, blocks are events. */
const RETRY = 'retry: 2000\n'

const encoder = new TextEncoder()

export class Events implements PipedBody {
  /** When something was last sent, by `performance.now()`. */
  sentAt: number = performance.now()
  readonly #gone: () => void
  #outlet: Pick<Outlet, 'write' | 'end' | 'destroy'> | undefined
  #waiting: string[] = [RETRY]
  #size = 0
  #isAsked = false
  #isEnding = false
  #failure: Error | undefined

  /** `gone` is called when the client has gone, or does not read. */
  constructor(gone: () => void) {
    this.#gone = gone
  }

  pipe<T extends Outlet>(outlet: T): T {
    this.#outlet = outlet
    const gone = () => this.destroy()
    outlet.on('drain', () => this.#ask())
    outlet.on('close', gone)
    // What is written to it just before it closes fails.
    outlet.on('error', gone)
    this.#ask()
    return outlet
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream(
      {
        start: (controller) => {
          this.#outlet = {
            write(text) {
              controller.enqueue(encoder.encode(text))
              return false
            },
            end: () => controller.close(),
            destroy: (error) => controller.error(error),
          }
        },
        pull: () => this.#ask(),
        cancel: () => this.destroy(),
      },
      { highWaterMark: 0 },
    )
  }

  /** The client has gone. */
  destroy(): void {
    this.#isEnding = true
    this.#waiting = []
    this.#outlet = undefined
    this.#gone()
  }

  /**
   * Sends an event. A list may be larger than what is kept for a client that does not read, and replaces all that waits, which
   * may be such a list too.
   */
  send(event: string, data: string, id?: string): void {
    const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`
    const isList = event === 'records'
    if (isList) this.#waiting = this.#waiting.filter((one) => one === RETRY)
    this.#send(text, isList)
  }

  /**
   * Shows that the connection is open, unless something waits to be sent anyway. Of a client that left before the response was
   * there, Workers tell nothing but that nobody has begun to read.
   */
  comment(): void {
    if (this.#waiting[0] === RETRY) this.#cut()
    else if (this.#waiting.length === 0) this.#send(':\n', false)
  }

  /** Ends the response once all of it is sent. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  #send(text: string, isFree: boolean): void {
    if (this.#isEnding) return
    this.sentAt = performance.now()
    // The event itself may be larger: a client that reads gets it all the same.
    const isFull = this.#size > MOST_WAITING
    this.#waiting.push(text)
    if (!isFree) this.#size += text.length
    if (isFull) this.#cut()
    else this.#flush()
  }

  #ask(): void {
    this.#isAsked = true
    if (this.#failure) this.#outlet?.destroy(this.#failure)
    else this.#flush()
  }

  /** Hands over what waits, if the client asks for it. */
  #flush(): void {
    const text = this.#isAsked ? this.#waiting.join('') : ''
    if (text !== '') {
      this.#waiting = []
      this.#size = 0
      this.#isAsked = this.#outlet?.write(text) === true
    }
    if (!this.#isEnding || this.#waiting.length > 0) return
    this.#outlet?.end()
    this.#outlet = undefined
  }

  #cut(): void {
    const outlet = this.#outlet
    this.#failure = new Error('the client does not read')
    this.destroy()
    outlet?.destroy(this.#failure)
  }
}

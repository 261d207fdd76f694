/** A response of events (`text/event-stream`), which are kept while the client does not read. */

/** The most characters of events that wait for a client. */
const MOST_WAITING = 1024 * 1024

const encoder = new TextEncoder()

/** Events on their way to one client. */
export class Events {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  /** When something was last sent, by `performance.now()`. */
  sentAt: number = performance.now()
  readonly #gone: () => void
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
  #waiting: string[] = ['retry: 2000\n\n']
  #size = 0
  #isAsked = false
  #isEnding = false

  /** `gone` is called when the client has gone, or does not read. */
  constructor(gone: () => void) {
    this.#gone = gone
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#isAsked = true
          this.#flush()
        },
        cancel: () => {
          this.#isEnding = true
          this.#waiting = []
          gone()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Sends an event. The list at its beginning may be larger than what is kept for a client that does not read. */
  send(event: string, data: string, id?: string): void {
    const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`
    this.#send(text, event === 'records')
  }

  /** Shows that the connection is open, unless something waits to be sent anyway. */
  comment(): void {
    if (this.#waiting.length === 0) this.#send(':\n\n', false)
  }

  /** Ends the response once all of it is sent. */
  end(): void {
    this.#isEnding = true
    this.#flush()
  }

  #send(text: string, isFree: boolean): void {
    if (this.#isEnding) return
    this.sentAt = performance.now()
    this.#waiting.push(text)
    if (!isFree) this.#size += text.length
    if (this.#size > MOST_WAITING) this.#cut()
    else this.#flush()
  }

  /** Hands over what waits, if the client asks for it. */
  #flush(): void {
    const text = this.#isAsked ? this.#waiting.join('') : ''
    if (text !== '') {
      this.#waiting = []
      this.#size = 0
      this.#isAsked = false
      this.#controller?.enqueue(encoder.encode(text))
    }
    if (this.#isEnding && this.#waiting.length === 0) this.#close()
  }

  #cut(): void {
    this.#isEnding = true
    this.#waiting = []
    this.#controller?.error(new Error('the client does not read'))
    this.#controller = undefined
    this.#gone()
  }

  #close(): void {
    this.#controller?.close()
    this.#controller = undefined
  }
}

/** One event of a stream. */
export interface LiveEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

/** Reads the events of a response. */
export class Reading {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(response: Response) {
    if (!response.body) throw new Error('no body')
    this.#reader = response.body.getReader()
  }

  /** The next block as it was sent; undefined at the end. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return block
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The next event. */
  async next(): Promise<LiveEvent | undefined> {
    for (;;) {
      const block = await this.block()
      if (block === undefined) return undefined
      const lines = new Map(
        block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      )
      const event = lines.get('event')
      if (event === undefined) continue
      return { event, id: lines.get('id'), data: JSON.parse(lines.get('data') ?? 'null') }
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}

/**
 * Clients that follow lists while their connections are cut.
 *
 * @module
 */

import { ReadableStream as NodeStream } from 'node:stream/web'
import { createClient, type Failure } from '../../../src/client/index.ts'
import type { AnyRecords } from '../../../src/client/shapes.ts'
import type { App } from '../../../src/index.ts'
import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import { LISTS } from './world.ts'

/** What is asked of each list: all of it as it comes, and some of it in order. */
const ASKED = [
  ...LISTS.map((path) => ({ path, wanted: {} })),
  { path: '/boards', wanted: { sort: '-count' } },
  { path: '/cards', wanted: { sort: 'text' } },
]

/** A client that follows a list at one of the ports, each time at another one. */
export class Follower {
  readonly path: string
  readonly wanted: { readonly sort?: string }
  records: readonly { readonly _id: string }[] = []
  /** Positions that were not greater than the one before them, in one connection. */
  outOfOrder = 0
  isOpen = false
  cut = (): void => {}
  readonly #ports: readonly number[]
  readonly #ending = new AbortController()
  readonly #running: Promise<unknown>
  /** Rejects if it ends by itself. */
  readonly failed: Promise<never>
  readonly failures: Failure[] = []
  #at: number

  constructor(ports: readonly number[], number: number) {
    const { path, wanted } = ASKED[number % ASKED.length] ?? { path: '/boards', wanted: {} }
    this.path = path
    this.wanted = wanted
    this.#ports = ports
    this.#at = number
    const api = createClient<{ '~/list': AnyRecords }>('http://proof', { fetch: this.#fetch })
    // The paths are known when it runs.
    const calls = api(path as '/list') as unknown as {
      live(wanted: object, on: object): Promise<void>
    }
    this.#running = calls.live(wanted, {
      onChange: (records: { _id: string }[]) => {
        this.records = records
      },
      onError: (failure: Failure) => void this.failures.push(failure),
      signal: this.#ending.signal,
    })
    // It follows its list until it is told not to, whatever happens.
    this.failed = this.#running.then(() => {
      if (this.#ending.signal.aborted) return new Promise<never>(() => {})
      throw new Error(`${path} ended: ${JSON.stringify(this.failures.at(-1))}`)
    })
    this.failed.catch(() => {})
  }

  #fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    this.#at += 1
    const port = this.#ports[this.#at % this.#ports.length]
    const cutting = new AbortController()
    const signal = AbortSignal.any([cutting.signal, ...(init.signal ? [init.signal] : [])])
    const url = String(input).replace('http://proof', `http://127.0.0.1:${port}`)
    const response = await fetch(url, { ...init, signal })
    if (!(response.ok && response.body)) return response
    this.isOpen = true
    this.cut = () => {
      this.isOpen = false
      cutting.abort()
    }
    return new Response(NodeStream.from(this.#watched(response.body)) as ReadableStream, response)
  }

  /** Looks at the positions that pass. */
  async *#watched(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const decoder = new TextDecoder()
    let text = ''
    let last = ''
    try {
      for await (const chunk of body) {
        text += decoder.decode(chunk, { stream: true })
        const whole = text.lastIndexOf('\n\n') + 1
        for (const [, id = ''] of text.slice(0, whole).matchAll(/^id: (.*)$/gm)) {
          if (id <= last) this.outOfOrder += 1
          last = id
        }
        text = text.slice(whole)
        yield chunk
      }
    } finally {
      this.isOpen = false
    }
  }

  /** Whether it has what its list shows. */
  async hasItsList(app: App): Promise<boolean> {
    const { sort } = this.wanted
    const query = sort === undefined ? '' : `?sort=${sort}`
    const response = await app.handle(new Request(`http://x${this.path}${query}`))
    const { data } = (await response.json()) as { data: { _id: string }[] }
    if (sort !== undefined) return isSameContent(data, [...this.records])
    const byId = (records: readonly { _id: string }[]) =>
      records.toSorted((a, b) => (a._id < b._id ? -1 : 1))
    return isSameContent(byId(data), byId(this.records))
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }
}

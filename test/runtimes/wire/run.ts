/**
 * Random connections to a server: several requests at once, in pieces, cut anywhere, half closed or read late. Each
 * request that was sent has its own response, in order; and a record is there if and only if its POST was sent whole.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { Random } from '../../../extras/contract/store/random.ts'
import { type Asked, anyRequest, type Server } from './requests.ts'
import { type Got, responsesIn } from './responses.ts'

/** How a client behaves. */
const WAYS = ['whole', 'whole', 'late', 'half-closed', 'cut', 'reset'] as const
/** How long a client waits for its responses, in milliseconds. */
const PATIENCE_MS = 30_000
const LOOK_MS = 10

/** What must be stored: for certain, perhaps, or never. */
export type Fate = 'stored' | 'unknown' | 'never'

/** Runs `count` connections at a time, and resolves to the fates of the records by their labels. */
export class Wire {
  readonly fates = new Map<string, Fate>()
  /** Whether the server is told to close: then it may not respond, or with a 503, but finishes what it has begun. */
  isClosing = false
  readonly #random: Random
  readonly #server: Server
  #count = 0

  constructor(seed: number, server: Server) {
    this.#random = new Random(seed)
    this.#server = server
  }

  async round(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#connection()))
  }

  async #connection(): Promise<void> {
    const asked = this.#requests()
    const all = Buffer.concat(asked.map(({ bytes }) => bytes))
    const way = this.#random.of(WAYS)
    const sent = way === 'cut' || way === 'reset' ? this.#random.below(all.length) : all.length
    const socket = connect({ port: this.#server.port, host: '127.0.0.1', allowHalfOpen: true })
    const hearing = new Hearing(socket, asked)
    if (way === 'late') socket.pause()
    await this.#send(socket, all.subarray(0, sent))
    if (way === 'late') setTimeout(() => socket.resume(), 300)
    if (way === 'half-closed') socket.end()
    if (way === 'cut' || way === 'reset') {
      await delay(this.#random.below(30))
      if (way === 'cut') socket.destroy()
      else socket.resetAndDestroy()
    }
    await hearing.ended()
    socket.destroy()
    this.#judge(asked, hearing.responses(), sent, hearing.hasHeardAll(way) ? 'heard' : way)
  }

  #requests(): Asked[] {
    const asked: Asked[] = []
    for (let left = 1 + this.#random.below(this.#server.most); left > 0; left -= 1) {
      this.#count += 1
      const one = anyRequest(this.#random, this.#count, this.#server)
      asked.push(one)
      if (one.isLast) break
    }
    return asked
  }

  /** Sends `bytes` in a few pieces. */
  async #send(socket: Socket, bytes: Buffer): Promise<void> {
    const pieces = this.#random.chance(30) ? 1 : 1 + this.#random.below(8)
    const size = Math.ceil(bytes.length / pieces)
    for (let at = 0; at < bytes.length; at += size) {
      if (!socket.destroyed) socket.write(bytes.subarray(at, at + size))
      if (this.#random.chance(50)) await delay(this.#random.below(20))
    }
  }

  #judge(asked: readonly Asked[], got: readonly Got[], sent: number, way: string): void {
    expect(got.length).toBeLessThanOrEqual(asked.length)
    const closing = got.findIndex(({ headers }) => headers.get('connection') === 'close')
    const last = closing < 0 ? asked.length - 1 : closing
    const isJudged = this.#server.isOwn || way !== 'half-closed'
    const due = way === 'heard' ? this.#due(asked, got, last) : -1
    let end = 0
    for (const [at, one] of asked.entries()) {
      end += one.bytes.length
      const isSent = end <= sent
      const response = got[at]
      const context = `${way}, ${at} of ${asked.map(({ id, status }) => `${id} ${status}`)}`
      if (isSent && isJudged) expectFor(one, response, context, this.isClosing)
      if (at <= due && !one.isEndless) expect(response?.isWhole, context).toBe(true)
      this.#note(one, response, end - sent, at > last)
    }
  }

  /** Notes what becomes of a record; `missing` is how many bytes of its request have not been sent. */
  #note({ label }: Asked, response: Got | undefined, missing: number, isLate: boolean): void {
    const { isOwn } = this.#server
    // Bun needs no empty line after the last chunk (1.4), and others may carry out what comes after their last response.
    const isEnough = isOwn ? missing <= 0 && !isLate : missing <= 2
    if (label !== undefined) this.fates.set(label, fateOf(response, isEnough))
  }

  /**
   * The last one with a response. A server of another kind may close the connection after a body that nobody has read, and so
   * cut the responses before it.
   */
  #due(asked: readonly Asked[], got: readonly Got[], last: number): number {
    const isUnread = ({ method, status }: Asked) => method === 'POST' && status === 404
    if (!this.#server.isOwn && asked.some(isUnread)) return -1
    return this.isClosing ? Math.min(last, got.length - 1) : last
  }
}

function expectFor(
  asked: Asked,
  response: Got | undefined,
  context: string,
  isClosing: boolean,
): void {
  if (!response || (isClosing && response.status === 503)) return
  const { status, headers } = response
  expect(status, context).toBe(asked.status)
  if (!asked.isLast || asked.isEndless) expect(headers.get('x-request-id'), context).toBe(asked.id)
}

function fateOf(response: Got | undefined, isSent: boolean): Fate {
  if (response?.status === 201) return 'stored'
  return isSent ? 'unknown' : 'never'
}

/** What comes on a connection. */
class Hearing {
  readonly #pieces: Buffer[] = []
  readonly #socket: Socket
  readonly #asked: readonly Asked[]
  #isOver = false
  #isReset = false

  constructor(socket: Socket, asked: readonly Asked[]) {
    this.#socket = socket
    this.#asked = asked
    socket.on('data', (piece) => this.#pieces.push(piece))
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.#isOver = true
      })
    }
    socket.on('error', () => {
      this.#isReset = true
    })
  }

  /** Whether every response must be there: a reset takes away what has come and is read late. */
  hasHeardAll(way: string): boolean {
    return way === 'whole' || (way === 'late' && !this.#isReset)
  }

  responses(): Got[] {
    const methods = this.#asked.map(({ method }) => method)
    return responsesIn(Buffer.concat(this.#pieces), methods)
  }

  /** Resolves when all responses are there, or nothing more comes. */
  async ended(): Promise<void> {
    let read = -1
    const hasAll = () => {
      if (read === this.#pieces.length) return false
      read = this.#pieces.length
      const got = this.responses()
      return this.#asked.every(
        ({ isEndless, isHeld }, at) => isHeld || (got[at] && (isEndless || got[at].isWhole)),
      )
    }
    const until = performance.now() + PATIENCE_MS
    while (!this.#isOver && !hasAll()) {
      expect(performance.now(), this.#socket.readyState).toBeLessThan(until)
      await delay(LOOK_MS)
    }
  }
}

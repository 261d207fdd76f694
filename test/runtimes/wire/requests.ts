/**
 * Requests as bytes: whole ones in each framing, and what is none. Each says which statuses its response may have.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'

/** One request. */
export interface Asked {
  readonly id: string
  readonly method: string
  readonly bytes: Buffer
  readonly status: number
  /** The label of the record that it creates. */
  readonly label?: string
  /** Whether nothing after it is a request any more. */
  readonly isLast?: boolean
  /** Whether its response does not end, until its client leaves or the server closes. */
  readonly isEndless?: boolean
  /** Whether there is none until then. */
  readonly isHeld?: boolean
}

type Made = Omit<Asked, 'id' | 'bytes'> & { readonly text: string }

/** Something to ask; `number` tells it apart. */
export function anyRequest(random: Random, number: number, { isOwn, file }: Server): Asked {
  const id = `r${number}`
  const kinds = isOwn ? KINDS : VALID
  const { text, ...made } = random.of(kinds)(new Sender(random, id, { isOwn, file }))
  return { id, ...made, bytes: Buffer.from(text) }
}

/** What is asked. */
export interface Server {
  readonly port: number
  /** The path of a file of 300,009 bytes. */
  readonly file: string
  /** Whether all that is sent is for fieldgate to judge: others refuse what is invalid before they respond to what was not. */
  readonly isOwn: boolean
  /** The most requests that a client sends at once. */
  readonly most: number
}

const JSON_TYPE = 'Content-Type: application/json'
const FORM_TYPE = 'Content-Type: multipart/form-data; boundary=b'
const CHUNKED = 'Transfer-Encoding: chunked'
const CONTINUE = 'Expect: 100-continue'

/** Spells the requests of one id. */
class Sender {
  readonly #random: Random
  readonly label: string
  readonly json: string
  readonly file: string
  readonly #isOwn: boolean

  constructor(random: Random, id: string, { isOwn, file }: Pick<Server, 'isOwn' | 'file'>) {
    this.#random = random
    this.label = id
    this.file = file
    this.#isOwn = isOwn
    const text = 'y'.repeat(random.chance(25) ? random.below(30_000) : random.below(30))
    this.json = JSON.stringify({ label: id, text })
  }

  /** A head, and what follows it as it is. */
  request(method: string, path: string, headers: readonly string[] = [], rest = ''): string {
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', `X-Request-Id: ${this.label}`]
    const end = this.#isOwn && this.#random.chance(5) ? ['Connection: close'] : []
    return [...lines, ...headers, ...end, '', rest].join('\r\n')
  }

  /** A request with a body of this length. */
  whole(method: string, path: string, headers: readonly string[], body: string): string {
    return this.request(method, path, [...headers, `Content-Length: ${body.length}`], body)
  }

  /** A body in chunks, with an extension and trailers now and then. */
  chunks(body: string): string {
    let text = ''
    for (let at = 0; at < body.length; ) {
      const piece = body.slice(at, at + 1 + this.#random.below(body.length))
      const extension = this.#random.chance(20) ? ';a="b"' : ''
      text += `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`
      at += piece.length
    }
    return `${text}0\r\n${this.#isOwn && this.#random.chance(50) ? 'X-Sum: 1\r\n' : ''}\r\n`
  }

  form(end = '--'): string {
    const file = `%PDF-1.4 ${'z'.repeat(this.#random.chance(30) ? 200_000 : 50)}`
    const part = (head: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
    const label = part('name="label"', this.label)
    return `${label}${part('name="file"; filename="a.pdf"', file)}--b${end}\r\n`
  }
}

const post = (sender: Sender, text: string): Made => {
  return { method: 'POST', status: 201, label: sender.label, text }
}
const get = (text: string, status = 200): Made => ({ method: 'GET', status, text })

type Kind = (sender: Sender) => Made

const VALID: readonly [Kind, ...Kind[]] = [
  (to) => post(to, to.whole('POST', '/notes', [JSON_TYPE], to.json)),
  (to) => post(to, to.request('POST', '/notes', [JSON_TYPE, CHUNKED], to.chunks(to.json))),
  (to) => post(to, to.whole('POST', '/notes', [JSON_TYPE, CONTINUE], to.json)),
  (to) => post(to, to.whole('POST', '/notes', [FORM_TYPE], to.form())),
  (to) =>
    post(to, to.request('POST', '/notes', [FORM_TYPE, CHUNKED, CONTINUE], to.chunks(to.form()))),
  (to) => {
    return {
      method: 'POST',
      status: 400,
      text: to.whole('POST', '/notes', [FORM_TYPE], to.form('')),
    }
  },
  (to) => {
    const text = to.whole('POST', '/none', [JSON_TYPE], to.json)
    return { method: 'POST', status: 404, text }
  },
  (to) => get(to.request('GET', '/notes?label=none')),
  (to) => get(to.request('GET', '/notes')),
  (to) => get(to.request('GET', '/none'), 404),
  (to) => get(to.whole('GET', '/notes?label=none', [], 'hello')),
  (to) => ({ method: 'HEAD', status: 200, text: to.request('HEAD', '/notes') }),
  (to) => ({ method: 'QUERY', status: 200, text: to.whole('QUERY', '/notes', [JSON_TYPE], '{}') }),
  (to) => get(to.request('GET', '/pieces')),
  (to) => get(to.request('GET', to.file)),
  (to) => get(to.request('GET', to.file, ['Range: bytes=1000-250000']), 206),
  (to) => ({ ...get(to.request('GET', '/endless')), isLast: true, isEndless: true }),
  (to) => ({ ...get(to.request('GET', '/held')), isLast: true, isEndless: true, isHeld: true }),
  (to) => {
    const text = to.request('GET', '/notes?label=none', ['Accept: text/event-stream'])
    return { ...get(text), isLast: true, isEndless: true }
  },
]

/** With those that are no HTTP. */
const KINDS: readonly [Kind, ...Kind[]] = [
  ...VALID,
  (to) => ({ ...get(to.request('CONNECT', 'x:1'), 404), isLast: true }),
  (to) => {
    const text = to.request('GET', '/notes', [`X-Huge: ${'h'.repeat(20_000)}`])
    return { ...get(text, 431), isLast: true }
  },
  (to) => {
    const text = to.request('POST', '/notes', [JSON_TYPE, CHUNKED], 'zz\r\nnonsense\r\n')
    return { method: 'POST', status: 400, isLast: true, text }
  },
]

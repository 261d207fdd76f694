/**
 * Requests with the access token: a 401 is answered by one refresh and one more try.
 *
 * @module
 */

import { type Answer, type Ask, answered } from './answers.ts'
import { Session, type TokenStorage } from './session.ts'

/** Options of `createClient`. */
export interface ClientOptions {
  /** Sends requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /** Where tokens are kept. Default: `localStorage` in browsers, memory elsewhere. */
  readonly storage?: TokenStorage
  /** Runs in every tab when the session has ended: signed out, expired, or ended elsewhere. */
  readonly onSignedOut?: () => void
}

/** The most milliseconds that a refresh waits, so that a second try falls into the server's grace period of 10 s. */
const REFRESH_MS = 8_000

/** A server, and the session that the client has there. */
export class Connection {
  readonly base: string
  readonly session: Session
  readonly #fetch: typeof fetch

  constructor(url: string, { fetch: send, storage, onSignedOut }: ClientOptions) {
    if (typeof url !== 'string') {
      throw new TypeError(`createClient: 'url' must be a string, e.g. 'https://api.example.com'`)
    }
    let end = url.length
    while (url[end - 1] === '/') end -= 1
    this.base = url.slice(0, end)
    this.#fetch = send ?? ((input, init) => fetch(input, init))
    const post = (to: string, body: object) =>
      answered(
        { method: 'POST', url: to, body, signal: AbortSignal.timeout(REFRESH_MS) },
        this.#fetch,
      )
    this.session = new Session(`fieldgate:${this.base}`, storage, post, onSignedOut)
  }

  /** Sends a request with the access token. */
  async ask(request: Ask): Promise<Answer> {
    const token = await this.session.token()
    const first = await this.once(request, token)
    // A wrong current password is a 401 too, and counts as a guess: asking again would count it twice.
    const isStale = first.status === 401 && !/password/i.test(first.body?.error ?? '')
    if (token === undefined || !isStale) return first
    const next = await this.session.renewed(token)
    if (next === undefined) return first
    // The server could not be asked for a new token: that says nothing about who is signed in, so it is not a 401.
    return typeof next === 'string' ? this.once(request, next) : next
  }

  /** Sends a request as it is. */
  once({ headers, ...request }: Ask, token: string | undefined): Promise<Answer> {
    return answered({ ...request, headers: { ...headers, ...bearer(token) } }, this.#fetch)
  }

  /** `fetch` with the access token. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const send = (token: string | undefined) => {
      const headers = new Headers(init.headers)
      for (const [name, value] of Object.entries(bearer(token))) headers.set(name, value)
      return this.#fetch(this.base + path, { ...init, headers })
    }
    const token = await this.session.token()
    const response = await send(token)
    // A stream has been read.
    const isStream = init.body instanceof ReadableStream
    if (response.status !== 401 || token === undefined || isStream) return response
    const next = await this.session.renewed(token)
    return typeof next === 'string' ? send(next) : response
  }
}

function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` }
}

/** Requests of calls: whose they are, and what they are sent with. A 401 is answered by one refresh and one more try. */

import { type Answer, type Ask, answer, type Received } from './answers.ts'
import type { Load } from './parts.ts'
import { checkPath } from './paths.ts'
import { type Held, type Post, type Session, sessionIn } from './session.ts'
import { memoryStorage, pageStorage, type TokenStorage } from './storage.ts'

/** Header fields by their names. */
export type HeaderFields = Readonly<Record<string, string>>

/** Options of `createClient`. */
export interface ClientOptions {
  /** Sends requests, uploads too. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /** Where tokens are kept. Default: `localStorage` in browsers; without a window, as on a server, nowhere. */
  readonly storage?: TokenStorage
  /**
   * Names the session, if there are several at one URL. Tabs share a `storage` of your own only if you name the session.
   * Default: the session of the URL and the storage.
   */
  readonly key?: string
  /** The access token of each request, for a client that keeps no session: one on a server, for one user's request. */
  readonly token?: () => string | undefined | Promise<string | undefined>
  /** Header fields of each request, or what returns them. */
  readonly headers?: HeaderFields | (() => HeaderFields | Promise<HeaderFields>)
  /** Runs in every tab when the session has ended: signed out, expired, or ended elsewhere. */
  readonly onSignedOut?: () => void
}

/** What sends the requests of one call. */
export interface Call {
  /** The session that the call was made in. */
  readonly held: Promise<Held | undefined> | undefined
  /** Sends a request in that session; an open one is never sent twice. */
  ask(request: Ask, isOpen?: boolean): Promise<Answer>
  twice<R>(
    send: (held: Held | undefined) => Promise<R>,
    isStale: (response: R) => boolean,
  ): Promise<R | Answer>
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** A server, and the session that the client has there, if it keeps one. */
export interface Connection {
  readonly session: Session | undefined
  /** Begins a call: all of its requests belong to the session that is held now. */
  call(): Call
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Says once why a sign-in is not kept. */
  warn(): void
}

/** The most milliseconds that a refresh waits, so that a second try falls into the server's grace period of 10 s. */
const REFRESH_MS = 8_000

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what its parts share would have to be passed around
export function connect(url: string, options: ClientOptions, later: Load): Connection {
  if (typeof url !== 'string') throw new TypeError(`createClient: 'url' must be a string`)
  const {
    fetch: given,
    storage = 'window' in globalThis ? (pageStorage() ?? memoryStorage()) : undefined,
    headers: first,
    token,
  } = options
  let base = url
  while (base.at(-1) === '/') base = base.slice(0, -1)
  let isQuiet: unknown = token

  /** Sends a request with its header fields: the client's over `own`, and the request's over these. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: in parts it would be longer
  async function send(
    { path, headers: last, onProgress, ...init }: Pick<Ask, 'path' | 'headers' | 'onProgress'>,
    held: Held | undefined,
    own?: Ask['headers'],
  ): Promise<Received> {
    const headers = new Headers()
    const bearer = held?.token ?? (await token?.())
    const mine = { ...own, Authorization: bearer ? `Bearer ${bearer}` : undefined }
    for (const fields of [mine, typeof first === 'function' ? await first() : first, last]) {
      for (const [name, value] of Object.entries(fields ?? {})) {
        if (value !== undefined) headers.set(name, value)
      }
    }
    const request = { ...init, headers } as RequestInit & { headers: Headers }
    return onProgress && request.body && !given && 'XMLHttpRequest' in globalThis
      ? (await later()).uploaded(base + path, request, onProgress)
      : (given ?? fetch)(base + path, request)
  }

  /** Sends a request as it is. It never rejects. */
  const once = async (ask: Ask, held?: Held): Promise<Answer> => {
    try {
      checkPath(ask.path)
      const type = typeof ask.body === 'string' ? 'application/json' : undefined
      const own = { 'Content-Type': type }
      const response = await send(ask, held, own)
      return answer(response.status, await response.text(), response.headers)
    } catch (error) {
      return answer(0, (error as Error)?.message ?? `${error}`, new Headers())
    }
  }

  // Browsers of 2022, and React Native up to 0.86, have no such signal.
  const post: Post = async (path, body) => {
    const signal = AbortSignal.timeout?.(REFRESH_MS) ?? (await later()).timeout(REFRESH_MS)
    return once({ method: 'POST', path, body, signal })
  }
  const session = storage && !token ? sessionIn(storage, post, base, options) : undefined

  function call(): Call {
    const held = session?.held()
    let newest: Held | typeof held = held
    /** Sends, and once more after a refresh if the token is too old. What the refresh came to, if it gave none. */
    const twice: Call['twice'] = async (request, isStale) => {
      const mine = await newest
      const response = await request(mine)
      const next = mine && isStale(response) && (await session?.renewed(mine))
      if (!next) return response
      // The server could not be asked for a new token: that says nothing about who is signed in, so it is not a 401.
      if ('status' in next) return next
      newest = next
      return request(next)
    }
    return {
      held,
      twice,
      async fetch(path, init = {}) {
        // Two slashes, which a URL may also have as backslashes and around line breaks, begin another host.
        if (!/^\/(?![/\\\s])/.test(path)) throw new TypeError(`'${path}' must be a path`)
        const request = { ...init, path, headers: Object.fromEntries(new Headers(init.headers)) }
        const found = await twice(
          (mine) => send(request, mine),
          // A stream has been read.
          ({ status }) => status === 401 && !(init.body as ReadableStream | undefined)?.getReader,
        )
        // There are no new tokens: the response says why.
        return typeof found.text === 'string'
          ? (await later()).responseOf(found as Answer)
          : (found as Response)
      },
      ask: (request, isOpen) =>
        twice(
          (mine) => once(request, mine),
          // A wrong current password is a 401 too, and counts as a guess: asking again would count it twice.
          ({ status, body }) =>
            status === 401 && !isOpen && !/password/i.test(body?.error as string),
        ),
    }
  }

  return {
    session,
    call,
    fetch: async (path, init) => call().fetch(path, init),
    warn() {
      if (!isQuiet) console.warn(`createClient keeps no session without 'storage'`)
      isQuiet = true
    },
  }
}

/**
 * A server of accounts that a test directs: it is a `fetch`, answers when the test lets it, and remembers who sent what. It
 * imports no runtime and no test library.
 *
 * @module
 */

/** A session, as the server knows it. */
interface Opened {
  readonly user: string
  /** The access token that is good now. */
  token: string
  refreshToken: string
  /** The refresh token before it, which gets the same tokens again. */
  before: string
  isEnded: boolean
}

/** A request that the server has seen. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
  /** The session of its access token. */
  readonly session: string | undefined
}

/** A server of accounts. Sessions have names such as `ann 1`. */
export class ScriptedServer {
  readonly seen: Seen[] = []
  /** Paths whose requests are lost: nothing reaches the server. */
  readonly lost: Set<string> = new Set()
  /** Runs before a request reaches the server, if set: what it waits for delays the request. */
  before: ((path: string) => unknown) | undefined
  /** Runs after the server has answered and before the answer arrives, if set. */
  after: ((path: string) => unknown) | undefined
  readonly #sessions = new Map<string, Opened>()
  #count = 0

  /** The session of a token; undefined for tokens of nobody. */
  sessionOf(token: string | null | undefined): string | undefined {
    return token?.match(/(\w+ \d+)\.\d+$/)?.[1]
  }

  /** Makes the access token of a session, or of all, old. */
  expire(name?: string): void {
    for (const [own, session] of this.#sessions) if (!name || own === name) session.token = ''
  }

  /** Ends a session here alone: its client learns of it later. */
  end(name: string): void {
    const session = this.#sessions.get(name)
    if (session) session.isEnded = true
  }

  /** How many sessions there have been. */
  get opened(): number {
    return this.#sessions.size
  }

  isEnded(name: string): boolean {
    return this.#sessions.get(name)?.isEnded ?? true
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const { pathname: path } = new URL(String(input))
    const lose = () => {
      if (this.lost.has(path) || this.lost.has('*')) throw new TypeError('The connection is lost.')
      if (init.signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
    }
    await this.before?.(path)
    lose()
    const headers = new Headers(init.headers)
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : init.body
    const session = this.sessionOf(headers.get('Authorization'))
    this.seen.push({ method: init.method ?? 'GET', path, headers, body, session })
    const response = this.#answer(init.method ?? 'GET', path, headers, body)
    await this.after?.(path)
    lose()
    return response
  }

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one line for each route
  #answer(method: string, path: string, headers: Headers, body: Record<string, string>): Response {
    if (path === '/auth/login') return this.#open(body.identifier ?? 'nobody')
    const given = [...this.#sessions].find(([, { refreshToken, before }]) =>
      [refreshToken, before].includes(body?.refreshToken ?? 'none'),
    )
    if (path === '/auth/token/refresh') return this.#refresh(given)
    if (path === '/auth/logout') {
      if (given) given[1].isEnded = true
      return said(200, { success: true, message: 'Signed out.' })
    }
    const token = headers.get('Authorization')?.replace('Bearer ', '')
    const name = this.sessionOf(token)
    const session = this.#sessions.get(name ?? '')
    if (token && (!session || session.isEnded || session.token !== token)) {
      return said(401, { success: false, error: 'Authentication required.' })
    }
    if (path === '/cities' && method === 'QUERY') return new Response('Not here', { status: 501 })
    if (path === '/auth/me' && !session) {
      return said(401, { success: false, error: 'Authentication required.' })
    }
    return said(200, {
      success: true,
      data: path === '/auth/me' ? { _id: session?.user, email: session?.user } : [],
    })
  }

  #open(user: string): Response {
    this.#count += 1
    const name = `${user} ${this.#count}`
    const session: Opened = { user, token: '', refreshToken: '', before: '', isEnded: false }
    this.#sessions.set(name, session)
    return this.#tokens(name, session)
  }

  #refresh(given: [string, Opened] | undefined): Response {
    if (!given || given[1].isEnded) return said(401, { success: false, error: 'Sign in again.' })
    return this.#tokens(...given)
  }

  #tokens(name: string, session: Opened): Response {
    // Within the grace period an old refresh token gets what the first request with it got.
    if (session.token === '') {
      this.#count += 1
      session.before = session.refreshToken
      session.token = `${name}.${this.#count}`
      session.refreshToken = `refresh ${name}.${this.#count}`
    }
    const { user, token, refreshToken } = session
    return said(200, {
      success: true,
      data: { token, refreshToken, expiresIn: 60, user: { _id: user, email: user } },
    })
  }
}

function said(status: number, body: object): Response {
  return Response.json(body, { status })
}

/** Something that a test opens when the time has come. */
export class Gate {
  open!: () => void
  /** Resolves when it is open. */
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve
  })
}

/** A storage that a test can look into and break. */
export class ScriptedStorage {
  readonly items: Map<string, string> = new Map()
  /** The methods that throw. */
  readonly broken: Set<'getItem' | 'setItem' | 'removeItem'> = new Set()
  /** Runs before each access, if set: what it waits for delays it. */
  before: (() => unknown) | undefined

  /** A key under which something is stored. */
  keyOf(): string {
    return [...this.items.keys()].at(-1) ?? 'none'
  }

  getItem = (key: string) => this.#do('getItem', () => this.items.get(key) ?? null)
  setItem = (key: string, value: string) =>
    this.#do('setItem', () => void this.items.set(key, value))
  removeItem = (key: string) => this.#do('removeItem', () => void this.items.delete(key))

  #do<T>(method: 'getItem' | 'setItem' | 'removeItem', work: () => T): T | Promise<T> {
    const access = () => {
      if (this.broken.has(method))
        throw new DOMException('The quota is exceeded.', 'QuotaExceededError')
      return work()
    }
    const waits = this.before?.()
    return waits instanceof Promise ? waits.then(access) : access()
  }
}

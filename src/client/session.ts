/**
 * The tokens of a client, which all tabs of a page's origin share, and the one refresh for all of them.
 *
 * A refresh token is used once: presented again later than the server's grace period, it ends the session. So a refresh
 * holds a Web Lock, and who waited for it takes the tokens that it finds. A tab that begins a refresh tells the others,
 * which queue for the lock too: if it is closed before it has the answer, the next one asks again within the grace
 * period, and gets the same tokens.
 *
 * @module
 */

import { Announcements } from './announcements.ts'
import type { Answer } from './answers.ts'

/** Where tokens are kept: `localStorage`, or anything like it, which may be asynchronous. */
export interface TokenStorage {
  getItem(key: string): string | null | Promise<string | null>
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
}

/** What a sign-in returns. */
export interface Tokens {
  readonly token: string
  readonly refreshToken?: string
}

interface Held extends Tokens {
  /** The URL of the route that refreshes, and of the one that signs out. */
  readonly refreshAt: string
  readonly logoutAt: string
  /** When they came, in epoch milliseconds; later tokens have a later time. */
  readonly at: number
}

/** How a session asks the server. */
type Post = (url: string, body: object) => Promise<Answer>

/** How long to wait for tokens that another tab has stored. */
const PATIENCE_MS = 5_000
/** Announced when the server could not be asked, so that not every tab tries. */
const FAILED = 'failed'

/** The session of one client. */
export class Session {
  readonly #key: string
  readonly #storage: TokenStorage
  readonly #post: Post
  readonly #onSignedOut: (() => void) | undefined
  readonly #locks: LockManager | undefined
  readonly #channel: BroadcastChannel | undefined
  readonly #announcements: Announcements | undefined
  #renewal: Promise<string | Answer | undefined> | undefined

  constructor(
    key: string,
    storage: TokenStorage | undefined,
    post: Post,
    onSignedOut: (() => void) | undefined,
  ) {
    this.#key = key
    this.#post = post
    this.#onSignedOut = onSignedOut
    const shared = storage ?? browserStorage()
    this.#storage = shared ?? memoryStorage()
    // Without them, in old browsers and on pages without TLS, the server's grace period is what keeps tabs apart.
    this.#locks = shared && globalThis.navigator?.locks
    this.#announcements = this.#locks && new Announcements(this.#locks, key)
    this.#channel = this.#locks && new BroadcastChannel(key)
    this.#channel?.addEventListener('message', ({ data }) => this.#told(data))
    // Node would wait for messages instead of ending.
    ;(this.#channel as { unref?(): void } | undefined)?.unref?.()
  }

  /** The access token, if somebody is signed in. */
  async token(): Promise<string | undefined> {
    return (await this.#held())?.token
  }

  /** Keeps the tokens of a sign-in. */
  keep(tokens: Tokens, refreshAt: string, logoutAt: string): Promise<void> {
    return this.#alone(() =>
      this.#store({ ...picked(tokens), refreshAt, logoutAt, at: Date.now() }),
    )
  }

  /** Forgets the tokens, in every tab. */
  end(): Promise<void> {
    return this.#alone(() => this.#forget())
  }

  /** Signs out: here, and on the server if it can be reached. Undefined if nobody was signed in. */
  signOut(): Promise<Answer | undefined> {
    return this.#alone(async () => {
      const held = await this.#held()
      if (!held) return undefined
      const answer = await this.#post(held.logoutAt, { refreshToken: held.refreshToken })
      await this.#forget()
      return answer
    })
  }

  /**
   * The access token after `stale`, from a refresh if no other call or tab has had one. The server's answer if
   * it gave no tokens; undefined if the session has ended.
   */
  renewed(stale: string): Promise<string | Answer | undefined> {
    this.#renewal ??= this.#alone(() => this.#renew(stale)).finally(() => {
      this.#renewal = undefined
    })
    return this.#renewal
  }

  async #renew(stale: string): Promise<string | Answer | undefined> {
    const held = await this.#latest()
    if (!held || held.token !== stale) return held?.token
    const { refreshToken } = held
    if (refreshToken === undefined) return this.#forget()
    this.#channel?.postMessage(stale)
    const ask = () => this.#post(held.refreshAt, { refreshToken })
    // The server may have done it although the response was lost: asked again at once, it gives the same tokens.
    let answer = await ask()
    if (answer.status === 0) answer = await ask()
    const data = answer.body?.data as Tokens | undefined
    if (data?.token !== undefined) {
      await this.#store({ ...held, ...picked(data), at: Math.max(Date.now(), held.at + 1) })
      return data.token
    }
    if (answer.status === 401) return this.#forget()
    await this.#announcements?.make(FAILED)
    return answer
  }

  #told(message: unknown): void {
    if (message === null) this.#onSignedOut?.()
    else if (typeof message === 'string') void this.#alone(() => this.#finish(message))
  }

  /** Does the refresh that another tab has begun, if that tab has not come to an end with it. */
  async #finish(stale: string): Promise<void> {
    if (!(await this.#announcements?.heard())?.includes(FAILED)) await this.#renew(stale)
  }

  /** The tokens, as new as the last tab has stored them: in Chromium a write may show later in other tabs. */
  async #latest(): Promise<Held | undefined> {
    const heard = (await this.#announcements?.heard()) ?? []
    const newest = Math.max(0, ...heard.map(Number).filter((at) => at > 0))
    const deadline = Date.now() + PATIENCE_MS
    let held = await this.#held()
    while (held && held.at < newest && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      held = await this.#held()
    }
    return held
  }

  async #held(): Promise<Held | undefined> {
    const text = await this.#storage.getItem(this.#key)
    return text === null ? undefined : JSON.parse(text)
  }

  async #store(held: Held): Promise<void> {
    await this.#storage.setItem(this.#key, JSON.stringify(held))
    await this.#announcements?.make(String(held.at))
  }

  async #forget(): Promise<undefined> {
    if (!(await this.#held())) return
    await this.#storage.removeItem(this.#key)
    this.#channel?.postMessage(null)
    this.#onSignedOut?.()
  }

  /** Runs `work` while no other tab changes the tokens. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#locks ? this.#locks.request(this.#key, work) : work()
  }
}

function picked({ token, refreshToken }: Tokens): Tokens {
  return { token, ...(refreshToken !== undefined && { refreshToken }) }
}

/** `localStorage` in browsers. Undefined elsewhere, and where the user has blocked it. */
function browserStorage(): TokenStorage | undefined {
  try {
    if (!('document' in globalThis)) return undefined
    return (globalThis as { localStorage?: TokenStorage }).localStorage
  } catch {
    return undefined
  }
}

function memoryStorage(): TokenStorage {
  const items = new Map<string, string>()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  }
}

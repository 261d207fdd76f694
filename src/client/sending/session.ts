/**
 * The tokens of a client, which all clients of its storage share, and the one refresh for all of them.
 *
 * A refresh token is used once: presented again later than the server's grace period, it ends the session. So refreshes
 * of a session take turns, and who waited for one takes the tokens that it finds. A tab that begins a refresh tells the
 * others, which queue too: if it is closed before it has the answer, the next one asks again within the grace period,
 * and gets the same tokens.
 *
 * What is held is replaced only if it is still of the session that was asked for: who signs in or out meanwhile, wins.
 */

import type { Answer } from './answers.ts'
import { memoryStorage, pageStorage, type TokenStorage } from './storage.ts'

/** What a sign-in returns. */
interface Tokens {
  readonly token: string
  readonly refreshToken?: string
}

export interface Held extends Tokens {
  /** Names the session here. */
  readonly id: string
  readonly refreshAt: string
  /** When they came, in epoch milliseconds; later tokens have a later time. */
  readonly at: number
}

/** Tokens that the server has refused. */
type Stale = Pick<Held, 'id' | 'token'>

/** What a refresh comes to. The server's answer if it gave no tokens; undefined if the session is no longer held. */
type Renewal = Promise<Held | Answer | undefined>

export interface Session {
  held(): Promise<Held | undefined>
  keep(tokens: Tokens, refreshAt: string): Promise<unknown>
  /** Forgets the tokens of a session in every tab, or replaces them, if they are still held. What is held of it then. */
  replace(from: Held | undefined, tokens?: Tokens): Promise<Held | undefined>
  /** The tokens of the same session after `stale`, from a refresh if no other call or tab has had one. */
  renewed(stale: Stale): Renewal
}

export type Post = (path: string, body: string) => Promise<Answer>

/** How long to wait for tokens that another tab has stored. */
const PATIENCE_MS = 5_000
/** Announced with a session's id: the server could not be asked, so not every tab has to try. */
const FAILED = 'f'

/** The refreshes that are under way here, by the session and the token that they replace. */
const renewals: Record<string, Renewal> = {}

export function sessionIn(
  storage: TokenStorage,
  post: Post,
  url: string,
  { key, onSignedOut }: { readonly key?: string; readonly onSignedOut?: () => void },
): Session {
  const name = `${key ?? 'fieldgate'}:${url}`
  // Without them, in old browsers and on pages without TLS, the server's grace period is what keeps tabs apart.
  // What storages other than the page's reach is known only to the program, which says so by naming the session.
  // Where a page may keep nothing, browsers refuse locks too.
  const isShared = storage === pageStorage() || (key !== undefined && pageStorage())
  // Those of a page: servers may have locks too, but there each storage is another user's.
  const locks = isShared
    ? (globalThis as unknown as { window: typeof globalThis }).window.navigator.locks
    : undefined
  const [take, announce, heard] = turnsOf(name, storage, locks)
  const [read, put] = keptIn(storage, name, onSignedOut)

  /** When tokens were last stored or removed, as far as that is announced. */
  const newest = async () => Math.max(...(await heard()).map((text) => Number(text) || 0))

  /** The tokens, as new as the last tab has stored them: in Chromium a write may show later in other tabs. */
  async function latest(): Promise<Held | undefined> {
    const at = await newest()
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const held = await read()
      if (!held || held.at >= at || Date.now() > deadline) return held
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** Stores tokens, or removes what is stored, and tells it. */
  async function change(tokens?: Omit<Held, 'at'>): Promise<Held | undefined> {
    const at = Math.max(Date.now(), 1 + (await newest()))
    await put(tokens && JSON.stringify({ ...tokens, at }))
    await announce(at)
    channel?.postMessage(0)
    return read()
  }

  const replace: Session['replace'] = (from, tokens) =>
    take(async () => {
      const held = await latest()
      if (held?.id !== from?.id) return undefined
      if (!held || !tokens) return change()
      return held.token !== from?.token ? held : change({ ...held, ...tokens })
    })

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: in parts it would be longer
  async function renew({ id, token }: Stale): Renewal {
    const held = await latest()
    if (held?.id !== id) return undefined
    if (held.token !== token) return held
    const { refreshToken } = held
    if (!refreshToken) return replace(held)
    const ask = () => post(held.refreshAt, JSON.stringify({ refreshToken }))
    channel?.postMessage({ id, token })
    let answer = await ask()
    // The server may have done it although the response was lost: asked again at once, it gives the same tokens.
    if (!answer.status) answer = await ask()
    const tokens = tokensIn(answer.body?.data)
    // The 401 of a proxy, which has no envelope, says nothing about the session: it is as no answer.
    if (tokens || (answer.status === 401 && answer.body)) return replace(held, tokens)
    await announce(FAILED + id)
    return answer.status === 401 ? { ...answer, status: 0, text: 'A proxy answered 401.' } : answer
  }

  const channel = locks && new BroadcastChannel(name)
  if (channel) {
    // Another tab begins a refresh, or has stored or removed tokens.
    channel.onmessage = ({ data: stale }) =>
      stale
        ? take(async () => {
            // It does the refresh if the other tab has not come to an end with it.
            if (!(await heard()).includes(FAILED + stale.id)) await renew(stale)
          }, stale.id)
        : latest()
    // Node would wait for messages instead of ending.
    ;(channel as { unref?(): void }).unref?.()
    void read()
  }

  return {
    held: () => read(() => replace(undefined)),
    keep: (tokens, refreshAt) =>
      take(() => change({ ...tokens, refreshAt, id: `${Math.random()}` })),
    replace,
    renewed(stale) {
      const own = stale.id + stale.token
      renewals[own] ??= take(() => renew(stale), stale.id).finally(() => delete renewals[own])
      return renewals[own]
    },
  }
}

/** Reads the tokens; runs `clear` if there is something else, and `onSignedOut` if there are none any more. */
type Read = (clear?: () => unknown) => Promise<Held | undefined>
/** Stores a text, or removes what is stored: in memory, once the storage has failed. */
type Put = (text: string | undefined) => Promise<void>

function keptIn(
  kept: TokenStorage,
  name: string,
  onSignedOut: (() => unknown) | undefined,
): [Read, Put] {
  let last: Held | undefined
  let own: string | undefined
  return [
    async (clear) => {
      try {
        const text = await kept.getItem(name)
        const held = heldIn(text)
        if (!held && isText(text)) await clear?.()
        if (last && !held) (async () => onSignedOut?.())().catch(console.error)
        last = held
        return held
      } catch {
        // It may be there, but counts as signed out, except for what this client has put there.
        return heldIn(own)
      }
    },
    async (text) => {
      const remove = () => kept.removeItem(name)
      own = text
      try {
        await (text ? kept.setItem(name, text) : remove())
      } catch {
        try {
          await remove()
        } catch {
          // It stays there, for clients to come.
        }
        // For good: what is stored there could come back after this client has forgotten it.
        // biome-ignore lint/style/noParameterAssign: it takes the place of what was given
        kept = memoryStorage()
        // Of no text it keeps nothing.
        kept.setItem(name, text as string)
      }
    },
  ]
}

/** The tokens that are stored, if it is that. */
function heldIn(text: string | null | undefined): Held | undefined {
  try {
    const held = JSON.parse(text as string)
    const { token, refreshToken = '', id, refreshAt, at } = held
    return [token, refreshToken, id, refreshAt].every(isText) && at > 0 ? held : undefined
  } catch {
    return undefined
  }
}

export function tokensIn(data: unknown): Tokens | undefined {
  const { token, refreshToken } = (data ?? {}) as Partial<Tokens>
  return isText(token) ? { token, ...(isText(refreshToken) && { refreshToken }) } : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** How long an announcement is heard, in milliseconds. */
const HEARD_MS = 10_000

/** Runs `work` alone: among what changes the storage, or with a name, only among tabs that do the same. */
type Take = <T>(work: () => Promise<T>, name?: string) => Promise<T>
/** Announces a text; every tab hears it from the moment that this resolves. */
type Announce = (text: string | number) => Promise<unknown> | undefined
/** What is announced now. */
type Hear = () => Promise<string[]>

/** The last turn here of each storage. */
const turns = new WeakMap<object, Promise<unknown>>()

/**
 * The turns of those who share a storage. Storage and channels reach other tabs some time later, but who holds which lock is the
 * same for all tabs at every moment: so an announcement is a lock that is held for a while.
 */
function turnsOf(
  key: string,
  storage: object,
  locks: LockManager | undefined,
): [Take, Announce, Hear] {
  const start = `#${key}#`
  return [
    (work, name) => {
      if (locks) return locks.request(`${start}@${name}`, work) as ReturnType<typeof work>
      if (name) return work()
      const mine = (turns.get(storage) ?? Promise.resolve()).then(work, work)
      turns.set(storage, mine)
      return mine
    },
    (text) =>
      locks &&
      new Promise<void>((announced) => {
        void locks.request(start + text, { mode: 'shared' }, () => {
          announced()
          return new Promise<void>((end) => {
            const timer: unknown = setTimeout(end, HEARD_MS)
            // Node would wait for it instead of ending.
            ;(timer as { unref?(): void }).unref?.()
          })
        })
      }),
    async () => {
      const { held = [] } = (await locks?.query()) ?? {}
      return held.flatMap(({ name = '' }) => name.split(start)[1] ?? [])
    },
  ]
}

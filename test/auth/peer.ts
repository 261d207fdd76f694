/**
 * An app with the authentication API that asks itself what it is told, all at once: in this process, or as one of
 * several processes on a store.
 *
 * @module
 */

import * as z from 'zod'
import {
  createApp,
  createAuthRouter,
  createRouter,
  type Fields,
  type Model,
  type Store,
} from '../../src/index.ts'
import { authOptions, cheap, type Sent, secret, userModel } from './accounts.ts'

/** What a peer is told. */
export interface Task {
  readonly requests: readonly {
    readonly path: string
    readonly body: unknown
    readonly token?: string
    readonly method?: string
  }[]
  /** Users who become admins first. */
  readonly promote?: readonly string[]
  /** Whether all admins stop being ones. */
  readonly demoteAll?: boolean
  /** Whether to count the admins again and again until the requests are answered. */
  readonly watch?: boolean
}

/** What a peer answers. */
export interface Done {
  readonly answers: readonly { readonly status: number; readonly body: Fields }[]
  /** Passwords that were compared with a real account's hash. */
  readonly evaluated: number
  /** Every code that was sent so far. */
  readonly sent: readonly Sent[]
  readonly admins: number
  /** The fewest admins that were seen while the peer watched. */
  readonly fewest: number
}

/** How strict a peer is. */
export interface PeerOptions {
  readonly graceSeconds: number
  readonly maxAttempts: number
  /** The first signs, all verify. */
  readonly secrets?: readonly string[]
}

/** The password of every account in these tests. */
export const right = 'the right password'

/** Asks a peer. */
export type Ask = (task: Task) => Promise<Done>

/** An app on `store`. */
export async function createPeer(
  store: Store,
  { graceSeconds, maxAttempts, secrets = [secret] }: PeerOptions,
): Promise<Ask> {
  let evaluated = 0
  const sent: Sent[] = []
  const social = {
    card: { verify: ({ card, email }: Fields) => ({ id: card, email, emailVerified: true }) },
  } as never
  const User: Model<Fields> = userModel({
    auth: { social },
    fields: { banned: z.boolean().optional() },
    unique: ['cardId'],
  })
  const options = authOptions(User, sent, {
    token: { secret: secrets },
    fields: { disabled: 'banned' },
    social,
    refresh: { enabled: true, graceSeconds },
    routes: { deleteUser: true },
    lockout: { maxAttempts },
    password: {
      hash: cheap.hash,
      verify(plain, stored) {
        if (stored.endsWith(`:${right}`)) evaluated += 1
        return cheap.verify(plain, stored)
      },
    },
  })
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store, logger, env: {} })
  app.mount('/auth', createAuthRouter(options).router)
  app.mount('/people', createRouter({ model: User, allowedFields: ['banned'] }))
  await app.ready()
  const users = app.store.collection(User)
  const admins = () => users.count({ role: 'admin' })
  return async ({ requests, promote = [], demoteAll, watch = false }) => {
    evaluated = 0
    for (const id of promote) await users.update(id, { role: 'admin' })
    if (demoteAll) await users.updateWhere({ role: 'admin' }, { role: 'user' })
    let fewest = await admins()
    let isWatched = watch
    const look = async () => {
      while (isWatched) {
        fewest = Math.min(fewest, await admins())
        // A store in this process may answer at once, and the requests need a turn.
        await new Promise((resolve) => setTimeout(resolve))
      }
    }
    const watching = look()
    const answers = await Promise.all(
      requests.map(async ({ path, body, token, method = 'POST' }) => {
        const headers: Record<string, string> = { 'content-type': 'application/json' }
        if (token !== undefined) headers.authorization = `Bearer ${token}`
        const init = { method, headers, body: JSON.stringify(body) }
        const later: Promise<unknown>[] = []
        const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
        const request = new Request(`http://localhost${path}`, init)
        const response = await app.handle(request, undefined, platform)
        await Promise.all(later)
        return { status: response.status, body: (await response.json()) as Fields }
      }),
    )
    isWatched = false
    await watching
    return { answers, evaluated, sent, admins: await admins(), fewest }
  }
}

/**
 * Changes of accounts that must happen whole or not at all, and how to see which of the two it was: the writer
 * that is killed carries them out, and who looks afterwards checks them.
 *
 * @module
 */

import { createApp, createAuthRouter, type Fields, type Store } from '../../src/index.ts'
import { authOptions, type Sent, userModel } from './accounts.ts'

/** An account before its change. */
export interface Account {
  readonly email: string
  readonly token: string
  readonly refreshToken: string
  /** A code that was mailed, or the token of a second session. */
  readonly other: string
}

/** A change, and what must hold after it was cut off anywhere. */
interface Step {
  prepare(desk: Desk, email: string): Promise<Account>
  act(desk: Desk, account: Account): Promise<void>
  /** Sentences that must be true, `done` being whether the change was answered. */
  check(desk: Desk, account: Account, done: boolean): Promise<Record<string, boolean>>
}

/** An app on a store, and short ways to ask it. */
export interface Desk {
  post(path: string, body: Fields, token?: string): Promise<{ status: number; data: Fields }>
  opens(email: string, password: string): Promise<boolean>
  refreshes(refreshToken: string): Promise<boolean>
  isSignedIn(token: string): Promise<boolean>
  stored(email: string): Promise<Fields[]>
  codeFor(email: string): string
  close(): Promise<void>
}

const OLD = 'the old password'
const NEW = 'the new password'

/** Opens the app on `store`. */
export async function deskOn(store: Store): Promise<Desk> {
  const sent: Sent[] = []
  const social = {
    card: { verify: ({ card, email }: Fields) => ({ id: card, email, emailVerified: true }) },
  }
  const auth = { social, refresh: { enabled: true, graceSeconds: 600 } } as never
  const User = userModel({ auth, unique: ['cardId'] })
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store, logger, env: {} })
  app.mount('/auth', createAuthRouter(authOptions(User, sent, auth)).router)
  await app.ready()
  const users = app.store.collection(User)
  const ask = async (method: string, path: string, body?: Fields, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const later: Promise<unknown>[] = []
    const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
    const request = new Request(`http://localhost/auth${path}`, init)
    const response = await app.handle(request, undefined, platform)
    await Promise.all(later)
    const { data } = (await response.json()) as { data?: Fields }
    return { status: response.status, data: data ?? {} }
  }
  const isOk = async (answer: Promise<{ status: number }>) => (await answer).status === 200
  return {
    post: (path, body, token) => ask('POST', path, body, token),
    opens: (email, password) => isOk(ask('POST', '/login', { email, password })),
    refreshes: (refreshToken) => isOk(ask('POST', '/token/refresh', { refreshToken })),
    isSignedIn: (token) => isOk(ask('GET', '/me', undefined, token)),
    stored: (email) => users.find({ email }),
    codeFor: (email) => sent.findLast(({ to }) => to === email)?.code ?? '',
    close: () => app.close(),
  }
}

async function registered({ post }: Desk, email: string): Promise<Account> {
  const { data } = await post('/register', { email, password: OLD })
  return { email, token: String(data.token), refreshToken: String(data.refreshToken), other: '' }
}

/** Whether the account is as before in all its parts, or changed in all. */
async function sidesOf(
  desk: Desk,
  { email, token, refreshToken }: Account,
): Promise<{ unchanged: boolean; sides: Record<string, boolean> }> {
  const unchanged = await desk.refreshes(refreshToken)
  return {
    unchanged,
    sides: {
      'access tokens end with the sessions': (await desk.isSignedIn(token)) === unchanged,
      'the old password ends with the sessions': (await desk.opens(email, OLD)) === unchanged,
    },
  }
}

/** Every change, by name. */
export const steps: Readonly<Record<string, Step>> = {
  'password change': {
    prepare: registered,
    async act({ post }, { token }) {
      await post('/password/change', { currentPassword: OLD, newPassword: NEW }, token)
    },
    async check(desk, account, done) {
      const { unchanged, sides } = await sidesOf(desk, account)
      const isNew = await desk.opens(account.email, NEW)
      return {
        ...sides,
        'one of the passwords opens': isNew !== unchanged,
        'what was answered is so': !done || isNew,
      }
    },
  },
  'password reset': {
    async prepare(desk, email) {
      const account = await registered(desk, email)
      await desk.post('/password/forgot', { identifier: email })
      return { ...account, other: desk.codeFor(email) }
    },
    async act({ post }, { email, other }) {
      await post('/password/reset', { identifier: email, code: other, newPassword: NEW })
    },
    async check(desk, account, done) {
      const { email, other } = account
      const { unchanged, sides } = await sidesOf(desk, account)
      const isNew = await desk.opens(email, NEW)
      const again = { identifier: email, code: other, newPassword: 'a third password' }
      const { status } = await desk.post('/password/reset', again)
      return {
        ...sides,
        'one of the passwords opens': isNew !== unchanged,
        'the code is used up with the change': (status === 200) === unchanged,
        'what was answered is so': !done || isNew,
      }
    },
  },
  'code request': {
    prepare: registered,
    async act({ post }, { email }) {
      await post('/password/forgot', { identifier: email })
    },
    async check(desk, { email }) {
      const { status } = await desk.post('/password/forgot', { identifier: email })
      const reset = { identifier: email, code: desk.codeFor(email), newPassword: NEW }
      const { status: changed } = await desk.post('/password/reset', reset)
      return { 'a code can be had and works': status === 200 && changed === 200 }
    },
  },
  refresh: {
    prepare: registered,
    async act({ post }, { refreshToken }) {
      await post('/token/refresh', { refreshToken })
    },
    async check(desk, { email, refreshToken }) {
      const retry = await desk.post('/token/refresh', { refreshToken })
      const [user] = await desk.stored(email)
      return {
        'the old token still gets the successor': retry.status === 200,
        'the successor works': await desk.refreshes(String(retry.data.refreshToken)),
        'there is one session': (user?.refreshTokens as unknown[])?.length === 1,
      }
    },
  },
  'sign-out everywhere': {
    async prepare(desk, email) {
      const account = await registered(desk, email)
      const { data } = await desk.post('/login', { email, password: OLD })
      return { ...account, other: String(data.refreshToken) }
    },
    async act({ post }, { token }) {
      await post('/logout/all', {}, token)
    },
    async check(desk, { refreshToken, other }, done) {
      const isAlive = await desk.refreshes(refreshToken)
      return {
        'all sessions end together': (await desk.refreshes(other)) === isAlive,
        'what was answered is so': !(done && isAlive),
      }
    },
  },
  linking: {
    prepare: registered,
    async act({ post }, { email }) {
      await post('/social/card', { card: email, email })
    },
    async check(desk, account, done) {
      const { email } = account
      const { unchanged, sides } = await sidesOf(desk, account)
      const [before, ...others] = await desk.stored(email)
      const { status, data } = await desk.post('/social/card', { card: email, email })
      return {
        ...sides,
        'the provider is linked with the end of the sessions':
          unchanged !== Boolean(before?.cardId),
        'the owner gets into the same account':
          status === 200 && (data.user as Fields)._id === before?._id,
        'there is one account': others.length === 0,
        'what was answered is so': !(done && unchanged),
      }
    },
  },
  'sign-up': {
    prepare: async (_, email) => ({ email, token: '', refreshToken: '', other: '' }),
    async act({ post }, { email }) {
      await post('/register', { email, password: OLD })
    },
    async check(desk, { email }, done) {
      const isThere = await desk.opens(email, OLD)
      const { status } = await desk.post('/register', { email, password: OLD })
      return {
        'what was answered is so': !done || isThere,
        'who is not there can sign up': status === (isThere ? 409 : 201),
        'there is one account': (await desk.stored(email)).length === 1,
      }
    },
  },
  'social sign-up': {
    prepare: async (_, email) => ({ email, token: '', refreshToken: '', other: '' }),
    async act({ post }, { email }) {
      await post('/social/card', { card: email, email })
    },
    async check(desk, { email }, done) {
      const before = await desk.stored(email)
      const { status } = await desk.post('/social/card', { card: email, email })
      return {
        'what was answered is so': !done || before.length === 1,
        'the owner gets in': status === 200,
        'there is one account': (await desk.stored(email)).length === 1,
      }
    },
  },
}

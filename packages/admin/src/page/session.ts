/**
 * Who is signed in: the auth provider of `fieldgate/react-admin`, with the other ways to sign in.
 *
 * @module
 */

import type { AuthProvider } from 'ra-core'
import { reactAdminAuth } from '../../../../adapters/clients/react-admin.ts'
import { ClientError } from '../../../../src/client/index.ts'
import type { AccountCalls, Api, Outcome, Values } from './data.ts'
import type { Accounts, AppShape } from './document.ts'
import { dropDrafts } from './form-values.ts'
import { session } from './kept.ts'
import type { Rights } from './rights.ts'

/** Set in the tab of someone who looks around without signing in. */
const GUEST = 'fieldgate-admin.guest'
/** The path of the sign-in screen. */
export const SIGN_IN = '/login'
/** Why the session that ends now does, where that is known; and whether the user wants it, who then comes back to no place. */
export const ended = { reason: '', isWanted: false }
/** How long the user is taken to be the one they were, in milliseconds. */
const FRESH_MS = 10_000

/** The calls of the auth router. */
export function accountCalls(api: Api, { mount }: Accounts): AccountCalls {
  return (api as unknown as (mount: string) => AccountCalls)(mount)
}

/** Whether something can be seen without signing in. */
export function isOpenToGuests(shape: AppShape): boolean {
  return shape.resources.some(({ actions }) => {
    const { security = [] } = actions.list ?? actions.query ?? {}
    return security.length === 0 || security.some((one) => Object.keys(one).length === 0)
  })
}

export function isGuest(): boolean {
  return session.getItem(GUEST) !== null
}

/** What `login` takes: a call of the auth router, or to be a guest. */
export interface SignInWay {
  readonly way: 'login' | 'passkey' | 'guest'
  readonly body?: Values
}

/** Signs in and out, as react-admin takes it. */
export function authOf(
  api: Api,
  found: Accounts,
  rights: Rights,
  hasSession: () => boolean,
): AuthProvider {
  const plain = reactAdminAuth(api as never, { mount: found.mount })
  const calls = accountCalls(api, found)
  let known: { readonly at: number; readonly user: Values } | undefined
  const forget = () => {
    known = undefined
    rights.identify(undefined)
  }
  // Without a session the answer is known, and a request would be an error in the console.
  async function me(): Promise<Outcome<Values>> {
    if (!hasSession()) {
      const message = 'Authentication required.'
      return { ok: false, error: new ClientError({ status: 401, message }) }
    }
    const result = await (calls.me?.() as Promise<Outcome<Values>>)
    // It has just ended, so the page is being loaded anew.
    return result.ok || hasSession() ? result : new Promise(() => {})
  }
  /** The user; undefined for a guest. Throws if nobody is signed in. */
  async function user(): Promise<Values | undefined> {
    if (known && Date.now() - known.at < FRESH_MS) return known.user
    const result = await me()
    if (result.ok) {
      known = { at: Date.now(), user: result.data }
      ended.reason = ''
      rights.identify(result.data)
      return result.data
    }
    const { status, message } = result.error
    if (status === 403 && message.includes('not active')) {
      ended.reason = message
      await plain.logout()
    }
    if (status !== 401) return known?.user
    forget()
    if (isGuest()) return undefined
    throw new ClientError(result.error)
  }
  return {
    ...plain,
    async login({ way, body = {} }: SignInWay) {
      if (way === 'guest') {
        forget()
        return session.setItem(GUEST, 'yes')
      }
      const result = await (way === 'passkey'
        ? calls.passkeys.signIn(body)
        : (calls.login?.(body) as Promise<Outcome<unknown>>))
      if (!result.ok) throw new ClientError(result.error)
      // Not before: a passkey that is only offered leaves a guest one.
      forget()
      session.removeItem(GUEST)
    },
    async logout() {
      session.removeItem(GUEST)
      dropDrafts()
      await plain.logout()
      forget()
    },
    checkAuth: async () => void (await user()),
    // A refusal is told where it happens; the session's end is told by the client.
    checkError: async () => undefined,
    async getIdentity() {
      const found = await user()
      const { name, email, username, phone, _id = '' } = (found ?? {}) as Record<string, string>
      const identifier = email ?? username ?? phone ?? _id
      return { id: _id, identifier, fullName: name ?? identifier, isGuest: !found }
    },
    getPermissions: async () => (await user())?.role,
  }
}

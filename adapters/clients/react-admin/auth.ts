/** The auth provider: react-admin's questions about who is signed in. */

import { ClientError, type Result } from '../../../src/client/index.ts'
import {
  type AnyClient,
  accountsAt,
  done,
  refusal,
  type Stored,
  type Values,
  withId,
} from '../records.ts'

/** Who is signed in, as react-admin shows it. */
export interface ReactAdminIdentity {
  readonly id: string
  readonly fullName?: string
  readonly [field: string]: unknown
}

/** The auth provider, as react-admin calls it. */
export interface ReactAdminAuth {
  /**
   * Signs in with `username`, which is an e-mail address or another identifier, and `password`. Other members go to the
   * server as they are, such as the `ticket` of a second step. Rejects with a `ClientError`.
   */
  login(params: Values): Promise<void>
  /** Signs out, here even if the server cannot be reached. */
  logout(params?: unknown): Promise<void>
  /** Rejects if the user is not signed in. If the server cannot be reached, they stay signed in. */
  checkAuth(params?: unknown): Promise<void>
  /** Rejects on a 401, so that react-admin signs out. */
  checkError(error: unknown): Promise<void>
  getIdentity(): Promise<ReactAdminIdentity>
  /** The user's `role`: a name, or a list of names. */
  getPermissions(params?: unknown): Promise<unknown>
}

/** Options of `reactAdminAuth`. */
export interface ReactAdminAuthOptions {
  /** The mount of the auth router. Default `/auth`. */
  readonly mount?: string
  /** The field that holds the roles. Default `role`. */
  readonly roleField?: string
  /** How a user is called. Default: the name, else the e-mail address. */
  readonly fullName?: (user: Values) => string | undefined
}

/** The auth provider. It needs the route `me` of the auth router. */
export function reactAdminAuth(
  api: AnyClient,
  { mount = '/auth', roleField = 'role', fullName = nameOf }: ReactAdminAuthOptions = {},
): ReactAdminAuth {
  const accounts = accountsAt(api, mount)
  let asked: Promise<Result<Stored>> | undefined
  /** The user. Calls at the same time, which each page makes, share one request. */
  function me(): Promise<Result<Stored>> {
    asked ??= accounts.me().finally(() => {
      asked = undefined
    })
    return asked
  }
  return {
    async login({ username, ...body }) {
      done(await accounts.login(username === undefined ? body : { identifier: username, ...body }))
    },
    async logout() {
      await accounts.logout()
    },
    async checkAuth() {
      const user = await me()
      if (!user.ok && user.error.status === 401) throw refusal(user.error)
    },
    async checkError(error) {
      if (error instanceof ClientError && error.status === 401) throw error
    },
    async getIdentity() {
      const user = done(await me())
      const name = fullName(user)
      return { ...withId(user), ...(name !== undefined && { fullName: name }) }
    },
    getPermissions: async () => done(await me())[roleField],
  }
}

function nameOf({ name, email }: Values): string | undefined {
  return [name, email].find((value) => typeof value === 'string')
}

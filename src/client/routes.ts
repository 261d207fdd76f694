/**
 * The calls for the routes of an auth router.
 *
 * @module
 */

import type { RouteName } from '../auth/setup/options.ts'
import { type Answer, resultOf, succeeded } from './answers.ts'
import type { Connection } from './connection.ts'
import type { Result } from './results.ts'
import type { Tokens } from './session.ts'

/** The method and the path of each route, as the server has them by default. */
const ROUTES: Readonly<Record<RouteName, string>> = {
  register: 'POST /register',
  login: 'POST /login',
  social: 'POST /social/:provider',
  forgotPassword: 'POST /password/forgot',
  resetPassword: 'POST /password/reset',
  changePassword: 'POST /password/change',
  refresh: 'POST /token/refresh',
  logout: 'POST /logout',
  logoutAll: 'POST /logout/all',
  listSessions: 'GET /sessions',
  endSession: 'DELETE /sessions/:id',
  me: 'GET /me',
  listUsers: 'GET /users',
  getUser: 'GET /users/:id',
  updateUser: 'PATCH /users/:id',
  modifyRoles: 'PATCH /users/:id/roles',
  endUserSessions: 'DELETE /users/:id/sessions',
  sendEmailCode: 'POST /email/code',
  verifyEmail: 'POST /email/verify',
  deleteUser: 'DELETE /users/:id',
}

/** Their 401 is about what was sent, not about the access token. */
const OPEN = ['register', 'login', 'social', 'forgotPassword', 'resetPassword']
/** They end every session, this one too. */
const ENDING = ['changePassword', 'logoutAll']

/** Paths of routes that an auth router has renamed. */
export type RoutePaths = { readonly [Name in RouteName]?: string }

type Call = (...given: never[]) => Promise<Result<unknown, unknown>>

/** The calls for the auth router under `url`, by the names of its routes. */
export function routeCalls(
  url: string,
  connection: Connection,
  paths: RoutePaths = {},
): Readonly<Record<string, Call>> {
  const { session } = connection
  const pathOf = (name: RouteName) => url + (paths[name] ?? ROUTES[name].split(' ')[1])
  const call = async (name: RouteName, given: unknown[]): Promise<Result<unknown, unknown>> => {
    const [method = ''] = ROUTES[name].split(' ')
    const path = pathOf(name).replace(
      /\/:\w+/,
      () => `/${encodeURIComponent(String(given.shift()))}`,
    )
    const [body = {}] = given
    const request =
      method === 'GET' ? { method, url: path + parametersOf(body) } : { method, url: path, body }
    const answer = OPEN.includes(name)
      ? await connection.once(request, await session.token())
      : await connection.ask(request)
    const tokens = tokensIn(answer)
    if (tokens) await session.keep(tokens, pathOf('refresh'), pathOf('logout'))
    if (ENDING.includes(name) && succeeded(answer)) await session.end()
    return resultOf(answer)
  }
  const calls = Object.keys(ROUTES).map((name): [string, Call] => [
    name,
    (...given: unknown[]) => call(name as RouteName, given),
  ])
  return {
    ...Object.fromEntries(calls),
    refresh: async () => refreshed(connection),
    logout: async () => {
      const answer = await session.signOut()
      return answer ? resultOf(answer) : { ok: true, data: 'Signed out.' }
    },
  }
}

/** The tokens of a sign-in, if the answer is one. */
function tokensIn({ body }: Answer): Tokens | undefined {
  const data = body?.data as Partial<Tokens> | null | undefined
  return data?.token === undefined ? undefined : (data as Tokens)
}

async function refreshed({ session }: Connection): Promise<Result<unknown>> {
  const token = await session.token()
  const next = token === undefined ? undefined : await session.renewed(token)
  if (typeof next === 'string') return { ok: true, data: { token: next } }
  return next
    ? resultOf(next)
    : { ok: false, error: { status: 401, message: 'Authentication required.' } }
}

function parametersOf(options: unknown): string {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

import type { RouteName } from '../../auth/request-info.ts'
import { json, resultOf } from '../sending/answers.ts'
import type { CallOptions } from '../sending/call-options.ts'
import type { Connection } from '../sending/connection.ts'
import { inPath } from '../sending/paths.ts'
import type { Result } from '../sending/results.ts'
import type { Sending } from '../sending/sending.ts'
import { tokensIn } from '../sending/session.ts'

/**
 * The method and the path of each route, as the server has them by default, and: `-` it takes no values; `!` its
 * 401 is about what was sent, not about the access token; `.` it ends every session, this one too.
 */
const ROUTES: Readonly<Record<RouteName, string>> = {
  register: 'POST /register !',
  login: 'POST /login !',
  social: 'POST /social/:provider !',
  forgotPassword: 'POST /password/forgot !',
  resetPassword: 'POST /password/reset !',
  changePassword: 'POST /password/change .',
  refresh: 'POST /token/refresh',
  logout: 'POST /logout',
  logoutAll: 'POST /logout/all -.',
  listSessions: 'GET /sessions -',
  endSession: 'DELETE /sessions/:id -',
  me: 'GET /me -',
  listUsers: 'GET /users',
  getUser: 'GET /users/:id -',
  updateUser: 'PATCH /users/:id',
  modifyRoles: 'PATCH /users/:id/roles',
  endUserSessions: 'DELETE /users/:id/sessions -',
  sendEmailCode: 'POST /email/code',
  verifyEmail: 'POST /email/verify',
  deleteUser: 'DELETE /users/:id',
}

/** Paths of routes that an auth router has renamed. */
export type RoutePaths = { readonly [Name in RouteName]?: string }

type Call = (...given: never[]) => Promise<Result<unknown, unknown>>

/** Calls a route by its name; `row` is what the table of routes has of it. */
export type AskRoute = (
  name: string,
  given: unknown[],
  row?: string,
) => Promise<Result<unknown, unknown>>

/** The calls for the auth router at `mount`, by the names of its routes, and what calls any route. */
export function routeCalls(
  mount: string,
  connection: Connection,
  send: Sending,
  paths: RoutePaths = {},
): readonly [Readonly<Record<string, Call>>, AskRoute] {
  const { session } = connection
  const pathOf = (name: string, row = ROUTES[name as RouteName]) =>
    mount + (paths[name as RouteName] ?? row.split(' ')[1])
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: each mark of a route is one step
  const ask: AskRoute = async (name, given, row = ROUTES[name as RouteName]) => {
    const [method = '', , marks = ''] = row.split(' ')
    const call = connection.call()
    const path = pathOf(name, row).replace(/\/:\w+/, () => `/${inPath(given.shift())}`)
    const body = json((marks.includes('-') ? undefined : given.shift()) ?? {})
    const options = given[0] as CallOptions | undefined
    const isGet = method === 'GET'
    const query = isGet ? `?${new URLSearchParams(JSON.parse(body))}` : ''
    const content = isGet ? undefined : body
    const isOpen = marks.includes('!')
    const result = await send.one(method, path + query, content, options, call, isOpen)
    const tokens = result.ok && tokensIn(result.data)
    if (tokens) {
      await (session ? session.keep(tokens, pathOf('refresh')) : connection.warn())
    }
    if (result.ok && marks.includes('.')) await session?.replace(await call.held)
    return result
  }
  const calls: Record<string, Call> = {}
  for (const name in ROUTES) calls[name] = (...given) => ask(name, given)
  const own: Readonly<Record<string, Call>> = {
    ...calls,
    // Where no session is kept, they are routes as all others.
    ...(session && {
      async refresh() {
        const held = await session.held()
        const next = held && (await session.renewed(held))
        // The server says why there is none.
        if (!next) return ask('refresh', [])
        return 'status' in next ? resultOf(next) : { ok: true, data: { token: next.token } }
      },
      async logout(options?: CallOptions) {
        const held = await session.held()
        await session.replace(held)
        if (!held) return { ok: true, data: 'Signed out.' }
        // What runs then, here or in `onSignedOut`, may leave the page: Firefox would not send it.
        return ask('logout', [{ refreshToken: held.refreshToken }, { ...options, keepalive: true }])
      },
    }),
  }
  return [own, ask]
}

/**
 * An app with the authentication API, in process: one call a request, a clock that stands until it is moved, and
 * every code that was sent.
 *
 * @module
 */

import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type App,
  type AppOptions,
  type AuthRouter,
  createApp,
  createAuthRouter,
  type Fields,
  type Logger,
  type Model,
  type RecordCollection,
  type Store,
} from '../../src/index.ts'
import { type AccountOptions, authOptions, password, type Sent, userModel } from './accounts.ts'

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where that is not there.
  readonly body: any
}

/** What a test chooses. */
export interface ServiceOptions extends AccountOptions {
  readonly app?: Partial<AppOptions>
  readonly store?: Store
  readonly model?: Model<Fields>
}

/** An app, its clock and its users. */
export interface Service {
  readonly app: App
  readonly auth: AuthRouter
  readonly User: Model<Fields>
  readonly users: RecordCollection<Fields>
  readonly sent: Sent[]
  readonly log: readonly string[]
  /** Moves the clock. */
  later(seconds: number): void
  now(): number
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>
  post(path: string, body?: unknown, token?: string): Promise<Answer>
  /** Registers and gives the sign-in data. */
  register(
    email: string,
    more?: Fields,
  ): Promise<Fields & { token: string; refreshToken: string; user: { _id: string } }>
  /** An admin's access token. */
  admin(email?: string): Promise<{ token: string; id: string }>
  /** The stored record, secrets included. */
  stored(id: string): Promise<Fields>
}

/** Makes an app; it is closed when the test ends. */
export async function service(options: ServiceOptions = {}): Promise<Service> {
  let time = Date.UTC(2030, 0, 1)
  const log: string[] = []
  const sent: Sent[] = []
  const line: Logger['info'] = (message, details) => log.push(JSON.stringify([message, details]))
  const User = options.model ?? userModel(options)
  const auth = createAuthRouter(authOptions(User, sent, options.auth))
  const app = createApp({
    store: options.store ?? sqliteStore(),
    logger: { debug: line, info: line, warn: line, error: line },
    now: () => time,
    env: {},
    ...options.app,
  })
  app.mount('/auth', auth.router)
  onTestFinished(() => app.close())
  const users = app.store.collection(User)

  const call: Service['call'] = async (method, path, body, token) => {
    const headers: Record<string, string> = {}
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const later: Promise<unknown>[] = []
    const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
    const request = new Request(`http://localhost${path}`, init)
    const response = await app.handle(request, undefined, platform)
    await Promise.all(later)
    const text = await response.text()
    const known = text.startsWith('{') ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, body: known }
  }
  const post: Service['post'] = (path, body = {}, token) => call('POST', path, body, token)
  const register: Service['register'] = async (email, more = {}) => {
    const answer = await post('/auth/register', { email, password, ...more })
    if (answer.status !== 201) throw new Error(`register: ${answer.status} ${answer.text}`)
    return answer.body.data
  }
  return {
    app,
    auth,
    User,
    users,
    sent,
    log,
    call,
    post,
    register,
    later(seconds) {
      time += seconds * 1000
    },
    now: () => time,
    async admin(email = 'admin@example.com') {
      const { token, user } = await register(email)
      await users.update(user._id, { role: 'admin' })
      return { token, id: user._id }
    },
    async stored(id) {
      return (await users.findById(id)) ?? {}
    },
  }
}

/** Runs `work` for each of `count` at once. */
export function parallel<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)))
}

/** How often each status was answered. */
export function statuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

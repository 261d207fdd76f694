/**
 * An app of notes whose readers have rights that change, and the doors through which they see and write them.
 *
 * @module
 */

import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { runDue, webhooks } from '../../../src/background/webhooks/index.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  ref,
  type ScopeFilter,
  userFields,
} from '../../../src/index.ts'
import { mcp } from '../../../src/mcp/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import { type Receiver, receiver } from '../../background/receiver.ts'
import { type LiveEvent, Reading } from '../live/stream.ts'
import { type Answer, type Message, type Service, service } from '../service.ts'

const User = defineModel('DoorUser', {
  fields: {
    ...userFields(),
    ...{ team: z.string(), isWhole: z.boolean(), banned: z.boolean().default(false) },
  },
  unique: ['email'],
  changes: true,
})
const Note = defineModel('DoorNote', {
  fields: {
    ...{ title: z.string(), salary: z.string(), pin: z.string().optional() },
    ...{ team: z.string().optional(), owner: z.string().optional() },
  },
  hidden: ['pin'],
  changes: true,
})
const Task = defineModel('DoorTask', { fields: { note: ref('DoorNote') } })

/** An account: it sees the notes of its team, or without one its own, whole or without the salary. */
export interface Account {
  readonly name: string
  readonly id: string
  readonly hooks: Receiver
  rights: { readonly team: string; readonly isWhole: boolean; readonly banned: boolean }
}

/** Who asks: an account by its session, or by a key that allows some actions. */
export interface Reader {
  readonly account: Account
  readonly actions: readonly string[] | undefined
  token: string
}

const HOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
type Asking = { readonly user?: Fields; readonly auth?: { readonly userId: string } }

const rules = {
  model: Note,
  scope: ({ user, auth }: Asking): ScopeFilter<Fields> =>
    user?.team ? { team: String(user.team) } : { owner: String(auth?.userId) },
  fieldsFor: ({ user }: Asking) => (user?.isWhole ? undefined : ['title', 'team']),
  ...{ allowedFields: ['title', 'salary'], query: ['title', 'salary'], maxLimit: 1000 },
  ...{ search: ['title', 'salary'], aggregates: { by: ['title', 'salary'] } },
}

/** The app, with the accounts of these names. */
export async function doors(names: readonly string[]) {
  const made: Service = service({ secret, cache: memoryCache() })
  const { app } = made
  const auth = createAuthRouter({
    ...{ model: User, token: { secret, expiresIn: '9h' }, password: cheap, methods: [apiKeys()] },
    ...{ registerFields: ['team', 'isWhole'], fields: { disabled: 'banned' } },
  })
  const guarded = { ...rules, middlewares: [auth.requireAuth] }
  const whole = { live: true, history: true, exportLimit: 1000, methodOverride: true }
  const task = { model: Task, middlewares: [auth.requireAuth], maxLimit: 1000 }
  app.mount('/auth', auth.router)
  app.mount('/notes', createRouter({ ...guarded, ...whole, access: { restore: true } } as never))
  app.mount('/kept', createRouter({ ...guarded, cache: { vary: () => 'all' } } as never))
  app.mount('/pages', createRouter({ ...guarded, pagination: 'cursor' } as never))
  app.mount('/tasks', createRouter({ ...task, expandable: ['note'] } as never))
  app.mount('/batch', batch()).mount('/mcp', mcp({ write: ['update'] }))

  const signIn = async (name: string, path = '/auth/login', more: Fields = {}) => {
    const json = { email: `${name}@example.com`, identifier: `${name}@example.com`, password }
    const { record } = await made.send('POST', path, { json: { ...json, ...more } })
    return record as { token: string; user: { _id: string } }
  }
  const accounts: Account[] = []
  for (const name of names) {
    const rights = { team: '', isWhole: true, banned: false }
    const { user } = await signIn(name, '/auth/register', rights)
    const hooks = await receiver(HOOK_SECRET)
    onTestFinished(() => hooks.stop())
    accounts.push({ name, id: user._id, hooks, rights })
    webhooks(app, {
      ...{ name, allowPrivate: true, as: () => ({ userId: user._id }) },
      endpoints: [{ url: hooks.url, secret: HOOK_SECRET, models: [Note.name] }],
    })
  }
  await app.ready()
  const users = app.store.collection(User)
  return {
    ...{ app, accounts, notes: app.store.collection(Note), tasks: app.store.collection(Task) },
    /** Its session, and a key of it that allows `actions`. */
    async readersOf(account: Account, actions: readonly string[]): Promise<Reader[]> {
      const { token } = await signIn(account.name)
      const json = { name: 'k', allow: [{ mount: '*', actions }] }
      const { record } = await made.send('POST', '/auth/keys', { json, headers: bearer(token) })
      const key = { account, actions, token: String(record.key) }
      return [{ account, actions: undefined, token }, key]
    },
    async allow(account: Account, rights: Partial<Account['rights']>): Promise<void> {
      account.rights = { ...account.rights, ...rights }
      await users.update(account.id, rights)
    },
    ask: (token: string, method: string, path: string, { headers, ...rest }: Message = {}) =>
      made.send(method, path, { ...rest, headers: { ...bearer(token), ...headers } }),
    sendWebhooks: () => runDue(app),
  }
}

export type Doors = Awaited<ReturnType<typeof doors>>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A door through which records are seen, and the action that it takes. */
export interface ReadingDoor {
  readonly action: string
  readonly shows: 'list' | 'one' | 'history' | 'titles' | 'salaries' | 'references' | 'found'
  ask(ask: Ask, id: string, text: string): Promise<Answer>
}
export type Ask = (method: string, path: string, message?: Message) => Promise<Answer>

const files = (accept: string): ReadingDoor => ({
  ...{ action: 'list', shows: 'list' },
  ask: (ask) => ask('GET', '/notes', { headers: { accept } }),
})
const list = (path: string, method = 'GET', message: Message = {}): ReadingDoor => ({
  ...{ action: 'list', shows: 'list' },
  ask: (ask) => ask(method, path, message),
})
const groups = (by: 'title' | 'salary'): ReadingDoor => ({
  ...{ action: 'list', shows: by === 'title' ? 'titles' : 'salaries' },
  ask: (ask) => ask('QUERY', '/notes', { json: { aggregate: { count: true }, by: [by] } }),
})
const tool = (ask: Ask, name: string, given: object) =>
  ask('POST', '/mcp', {
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
  })
const override = { json: {}, headers: { 'x-http-method-override': 'QUERY' } }

export const READING: Readonly<Record<string, ReadingDoor>> = {
  list: list('/notes'),
  query: list('/notes', 'QUERY', { json: {} }),
  'query as a post': list('/notes', 'POST', override),
  'cached list': list('/kept'),
  csv: files('text/csv'),
  ndjson: files('application/x-ndjson'),
  'groups by title': groups('title'),
  'groups by salary': groups('salary'),
  'tool, list': { ...list(''), ask: (ask) => tool(ask, 'query_records', { model: '/notes' }) },
  found: {
    ...{ action: 'list', shows: 'found' },
    ask: (ask, _, text) => ask('GET', `/notes?s=${text}`),
  },
  'found by either': {
    ...{ action: 'list', shows: 'found' },
    ask: (ask, _, text) => ask('QUERY', '/kept', { json: { search: text } }),
  },
  one: { action: 'read', shows: 'one', ask: (ask, id) => ask('GET', `/notes/${id}`) },
  'cached one': { action: 'read', shows: 'one', ask: (ask, id) => ask('GET', `/kept/${id}`) },
  'tool, one': {
    ...{ action: 'read', shows: 'one' },
    ask: (ask, id) => tool(ask, 'read_record', { model: '/notes', id }),
  },
  history: {
    ...{ action: 'history', shows: 'history' },
    ask: (ask, id) => ask('GET', `/notes/${id}/history`),
  },
  references: { ...list('/tasks?expand=note'), shows: 'references' },
}

export type WritingDoor = (ask: Ask, id: string, values: object) => Promise<Answer>

/** The doors by which a record is changed. */
export const WRITING: Readonly<Record<string, WritingDoor>> = {
  patch: (ask, id, json) => ask('PATCH', `/notes/${id}`, { json }),
  batch: (ask, id, body) =>
    ask('POST', '/batch', {
      json: { operations: [{ method: 'PATCH', path: `/notes/${id}`, body }] },
    }),
  tool: (ask, id, values) => tool(ask, 'write_record', { model: '/notes', id, values }),
}

/** A reader that follows the list. */
export class Stream {
  readonly list = new Map<string, Fields>()
  readonly events: LiveEvent[] = []
  hasEnded = false
  readonly reading: Reading

  constructor(response: Response) {
    this.reading = new Reading(response)
    void this.#read()
  }

  async #read(): Promise<void> {
    for (let next = await this.reading.next(); next; next = await this.reading.next()) {
      this.events.push(next)
      const { data } = next.data as { data?: Fields | Fields[] }
      if (next.event === 'records') this.list.clear()
      for (const one of [data ?? []].flat()) {
        if (next.event === 'unset') this.list.delete(String(one._id))
        else this.list.set(String(one._id), one)
      }
    }
    this.hasEnded = true
  }
}

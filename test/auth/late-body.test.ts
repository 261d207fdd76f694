import { afterEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { Fields } from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

let passed = 0
const now = performance.now.bind(performance)
afterEach(() => void vi.restoreAllMocks())

async function opened(): Promise<Service> {
  passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
  const auth = { fields: { disabled: 'isOut' }, methods: [apiKeys()] } as const
  return service({ auth, fields: { isOut: z.boolean().default(false) } })
}

/** Sends a request whose body comes two seconds later, after `meanwhile`. */
async function late(
  { app }: Service,
  [method, path, json]: readonly [string, string, Fields],
  token: string,
  meanwhile: () => unknown,
): Promise<number> {
  const body = new ReadableStream({
    async pull(controller) {
      await meanwhile()
      passed += 2000
      controller.enqueue(new TextEncoder().encode(JSON.stringify(json)))
      controller.close()
    },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method, headers, body, duplex: 'half' }
  return (await app.handle(new Request(`http://localhost${path}`, init))).status
}

const allow = [{ mount: '*', actions: ['list'] }]
const ROUTES: Readonly<Record<string, (id: string) => readonly [string, string, Fields]>> = {
  'an API key': () => ['POST', '/auth/keys', { name: 'k', allow }],
  'a role': (id) => ['PATCH', `/auth/users/${id}/roles`, { role: 'admin' }],
  'a profile': (id) => ['PATCH', `/auth/users/${id}`, { name: 'new' }],
  'a password': () => [
    'POST',
    '/auth/password/change',
    { currentPassword: password, newPassword: `${password}!` },
  ],
}

it.each(Object.entries(ROUTES))(
  'a session that ends while the body is under way makes nothing: %s',
  async (_, routeFor) => {
    const made = await opened()
    const ends = [
      [401, (_id: string, token: string) => made.post('/auth/logout/all', {}, token)],
      [403, (id: string) => made.users.update(id, { isOut: true })],
      [403, (id: string) => made.users.update(id, { role: 'user' })],
      [401, (id: string) => made.users.delete(id)],
    ] as const
    for (const [at, [status, end]] of ends.entries()) {
      const { id, token } = await made.admin(`admin${at}@example.com`)
      const { user } = await made.register(`user${at}@example.com`)
      const before = await made.users.find({}, { sort: ['_id'] })
      const route = routeFor(user._id)
      expect([at, await late(made, route, token, () => end(id, token))]).toEqual([at, status])
      const shown = await made.users.find({ _id: user._id })
      expect(shown).toEqual(before.filter(({ _id }) => _id === user._id))
    }
  },
)

it.each(Object.entries(ROUTES))(
  'a late body is taken from who is still there: %s',
  async (_, routeFor) => {
    const made = await opened()
    const { token } = await made.admin()
    const { user } = await made.register('user@example.com')
    expect(await late(made, routeFor(user._id), token, () => {})).toBeLessThan(300)
  },
)

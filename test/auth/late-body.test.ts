import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
} from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

let passed = 0
const now = performance.now.bind(performance)
afterEach(() => void vi.restoreAllMocks())

async function opened(app: Partial<AppOptions> = {}): Promise<Service> {
  passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
  const auth = { fields: { disabled: 'isOut' }, methods: [apiKeys()] } as const
  return service({ auth, app, fields: { isOut: z.boolean().default(false) } })
}

/** What ends the rights of a user, and what the request is refused with; `role` is another one than they have. */
const endsFor = ({ post, users }: Service, role: string) =>
  [
    [401, (_id: string, token: string) => post('/auth/logout/all', {}, token)],
    [403, (id: string) => users.update(id, { isOut: true })],
    [403, (id: string) => users.update(id, { role })],
    [401, (id: string) => users.delete(id)],
  ] as const

/** Sends a request whose body comes two seconds later, after `meanwhile`. */
async function late(
  { app }: Service,
  [method, path, sent]: readonly [string, string, Fields | FormData],
  token: string,
  meanwhile: () => unknown,
): Promise<number> {
  const whole = new Response(sent instanceof FormData ? sent : JSON.stringify(sent))
  const bytes = await whole.bytes()
  const type = whole.headers.get('content-type') ?? ''
  const body = new ReadableStream(
    {
      async pull(controller) {
        controller.enqueue(bytes.subarray(0, -1))
        await meanwhile()
        passed += 2000
        controller.enqueue(bytes.subarray(-1))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': type.startsWith('multipart/') ? type : 'application/json',
  }
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
    for (const [at, [status, end]] of endsFor(made, 'user').entries()) {
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

const Note = defineModel('Note', { fields: { text: z.string(), picture: z.string().optional() } })

async function withNotes() {
  const root = mkdtempSync(join(tmpdir(), 'late-body-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const made = await opened({ files: diskFiles({ root, secret: 'a'.repeat(32) }) })
  const { requireAuth } = made.auth
  const tenant: Guard = (request) => {
    if (request.auth) request.auth = { ...request.auth, claims: { tenant: 'north' } }
  }
  const access = [requireAuth, tenant]
  const notes = createRouter({
    model: Note,
    enableQuery: true,
    access: { list: access, create: access, update: access },
    validate: (values, { req }) => {
      if (req.auth?.claims?.tenant !== 'north') throw new Error('what a guard added is gone')
      return values
    },
    upload: { fields: [{ name: 'picture' }] },
  })
  notes.post('/:id/text', ...access, async (request) => {
    const { text } = (await request.json()) as Fields
    await made.app.store.collection(Note).update(request.params.id ?? '', { text: String(text) })
    return new Response(null, { status: 204 })
  })
  notes.post('/:id/stream', ...access, async (request) => {
    const text = await new Response(request.body).text()
    await made.app.store.collection(Note).update(request.params.id ?? '', { text })
    return new Response(null, { status: 204 })
  })
  made.app.mount('/notes', notes)
  const { _id } = await made.app.store.collection(Note).insert({ text: 'old' })
  return { ...made, root, note: `/notes/${String(_id)}` }
}

function form(): FormData {
  const made = new FormData()
  made.append('text', 'new')
  made.append('picture', new Blob([PNG], { type: 'image/png' }), 'a.png')
  return made
}

const PNG = Uint8Array.from(
  atob(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ),
  (character) => character.charCodeAt(0),
)

const DOORS: Readonly<
  Record<string, (note: string) => readonly [string, string, Fields | FormData]>
> = {
  'a new record': () => ['POST', '/notes', { text: 'new' }],
  'a change': (note) => ['PATCH', note, { text: 'new' }],
  'a file': () => ['POST', '/notes', form()],
  'another file': (note) => ['PATCH', note, form()],
  'a list': () => ['QUERY', '/notes', {}],
  'a route of your own': (note) => ['POST', `${note}/text`, { text: 'new' }],
  'a stream': (note) => ['POST', `${note}/stream`, { text: 'new' }],
}

describe.each(Object.entries(DOORS))('records and a body that is late: %s', (_, doorFor) => {
  it('does nothing for a session that ended meanwhile', async () => {
    const made = await withNotes()
    for (const [at, [status, end]] of endsFor(made, 'admin').entries()) {
      const { user, token } = await made.register(`user${at}@example.com`)
      const answer = late(made, doorFor(made.note), token, () => end(user._id, token))
      expect([at, await answer]).toEqual([at, status])
    }
    expect(await made.app.store.collection(Note).find({})).toMatchObject([{ text: 'old' }])
    expect(readdirSync(made.root, { recursive: true }).join()).not.toContain('.png')
  })

  it('does it for who is still there, with what guards have added', async () => {
    const made = await withNotes()
    const { token } = await made.register('user@example.com')
    const soon = () => made.later(16 * 60)
    expect(await late(made, doorFor(made.note), token, soon)).toBeLessThan(300)
  })
})

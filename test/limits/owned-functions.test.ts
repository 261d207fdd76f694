import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  userFields,
} from '../../src/index.ts'
import { cheap } from '../auth/accounts.ts'

const rejecting = async () => {
  throw new Error('cannot look it up')
}
const password = 'correct horse battery'

/** What would end the process: rejections that nothing awaits. */
const unowned: unknown[] = []
const note = (error: unknown) => void unowned.push(error)
beforeEach(() => {
  unowned.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  // Node tells of them after the turn in which nothing took care.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unowned).toEqual([])
})

function serving(given: {
  model?: object
  auth?: object
  logger?: object
  identifiers?: readonly unknown[]
}) {
  const lines: string[] = []
  const line = (message: string, details?: object) =>
    void lines.push(`${message} ${JSON.stringify(details ?? {})}`)
  const logger = given.logger ?? { debug: line, info: line, warn: line, error: line }
  const app = createApp({ store: sqliteStore(), logger: logger as never })
  onTestFinished(() => app.close())
  const fields = { n: z.number().or(z.string()).optional() }
  const Item = defineModel('OwnedItem', { fields, ...given.model } as never)
  app.mount('/items', createRouter({ model: Item, allowedFields: ['n'], middlewares: [] } as never))
  const identifiers = given.identifiers ? { identifiers: given.identifiers } : {}
  const User = defineModel('OwnedUser', {
    fields: userFields(identifiers as never),
    unique: ['email'],
  })
  const token = { secret: 'a secret of at least 32 characters' }
  app.mount(
    '/auth',
    createAuthRouter({
      model: User,
      token,
      password: cheap,
      ...identifiers,
      ...given.auth,
    } as never).router,
  )
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, ...(body && { headers, body: JSON.stringify(body) }) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, text: await response.text() }
  }
  return { app, Item, ask, lines }
}

describe('a function that must not be async', () => {
  it('is no reason to end the process: convert', async () => {
    const store = sqliteStore()
    const before = createApp({ store })
    const Old = defineModel('OwnedOld', { fields: { n: z.string() }, collection: 'owned' })
    await before.store.collection(Old).insert({ n: 'bad' })
    const New = defineModel('OwnedNew', {
      fields: { n: z.number() },
      collection: 'owned',
      convert: { n: rejecting },
    })
    const app = createApp({ store }).mount('/n', createRouter({ model: New, middlewares: [] }))
    onTestFinished(() => app.close())
    const response = await app.handle(new Request('http://localhost/n'))
    expect([response.status, (await response.json()).data[0].n]).toEqual([200, 'bad'])
  })

  it.each([
    ['a promise', () => rejecting()],
    ['a promise', () => Promise.resolve({ n: 1 })],
    ['nothing', () => {}],
  ])('is a 500 with the line to write if it returns %s: output', async (returned, output) => {
    const { ask, lines } = serving({ model: { output } })
    expect((await ask('POST', '/items', { n: 1 })).status).toBe(500)
    expect((await ask('GET', '/items')).status).toBe(500)
    expect(lines.join()).toContain(
      `'output' of model 'OwnedItem' returned ${returned}. Return what is shown`,
    )
  })

  it('is refused at start if it shows that it is async: output', () => {
    expect(() => serving({ model: { output: rejecting } })).toThrow(
      "Model 'OwnedItem': 'output' must be a function that is not async",
    )
  })

  it.each([
    ['a default', z.string().default(rejecting as never), 500],
    ['a default of a list', z.array(z.string()).default(rejecting as never), 500],
    ['a catch', z.string().catch(rejecting as never), 500],
    ['a prefault', z.string().prefault(rejecting as never), 400],
  ])('refuses the write, and is no reason to end the process: %s', async (_, made, status) => {
    const fields = { n: z.number(), made, inside: z.object({ made, other: made }).optional() }
    const { app, ask, lines } = serving({ model: { fields } })
    await app.ready()
    expect((await ask('GET', '/items')).status).toBe(200)
    expect((await ask('POST', '/items', { n: 1 })).status).toBe(status)
    expect(lines.join().includes("field 'made': a record cannot hold the type 'Promise'")).toBe(
      status === 500,
    )
    expect((await ask('POST', '/items', { n: 'x' })).status).toBe(400)
  })

  it('counts as no value: normalize of an identifier', async () => {
    const identifiers = [{ field: 'email', normalize: rejecting }]
    const { ask } = serving({ identifiers })
    const sent = { identifier: 'ann@example.com', password }
    expect((await ask('POST', '/auth/login', sent)).status).toBe(401)
    expect(
      (await ask('POST', '/auth/register', { email: 'ann@example.com', password })).status,
    ).toBe(400)
  })

  it('counts as no value, and is told once: client', async () => {
    const { ask, lines } = serving({ auth: { client: rejecting } })
    for (let times = 0; times < 2; times += 1) {
      const sent = { identifier: 'ann@example.com', password }
      expect((await ask('POST', '/auth/login', sent)).status).toBe(401)
    }
    expect(lines.filter((line) => line.includes("'client' of the auth router"))).toHaveLength(1)
  })

  it.each([
    ['rejects', rejecting],
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
  ])('does not change a response: a logger that %s', async (_, line) => {
    const { ask } = serving({ logger: { debug: line, info: line, warn: line, error: line } })
    expect((await ask('POST', '/auth/register', { email: 'a@b.example', password })).status).toBe(
      201,
    )
    expect((await ask('GET', '/none')).status).toBe(404)
  })
})

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { ControllerSets, createRouterS3upload } from '../../extras/legacy/index.ts'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type RouterOptions,
  type Values,
} from '../../src/index.ts'

const fields = {
  name: z.string(),
  price: z.number().optional(),
  secret: z.string().optional(),
  photo: z.string().optional(),
}
const Thing = defineModel('Thing', { fields, hidden: ['secret'] })
type ThingValues = Values<typeof fields>

interface Warning {
  readonly message: string
  readonly details: unknown
}

function quietly(options: Partial<AppOptions> = {}): { app: App; warnings: Warning[] } {
  const warnings: Warning[] = []
  const warn = (message: string, details?: unknown) => void warnings.push({ message, details })
  const logger = { debug() {}, info() {}, warn, error() {} }
  return { app: createApp({ store: sqliteStore(), logger, ...options }), warnings }
}

async function send(app: App, method: string, path: string, body?: unknown) {
  const response = await app.handle(
    new Request(`http://localhost${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      }),
    }),
  )
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) }
}

async function withThings(options: Partial<RouterOptions<ThingValues>>): Promise<App> {
  const { app } = quietly()
  app.mount('/things', createRouter({ model: Thing, ...options }))
  const things = app.store.collection(Thing)
  const insert = (at: number) =>
    things.insert({ name: `n${String(at).padStart(3, '0')}`, price: at, secret: `s${at}` })
  await Promise.all(Array.from({ length: 130 }, (_, at) => insert(at)))
  return app
}

describe('9 Versioning: legacyMode', () => {
  it('answers, Legacy: lifts the sort, range and compare allowlists and the unpaginated cap', async () => {
    const app = await withThings({ legacyMode: true })
    const all = await send(app, 'GET', '/things?sort=-price')
    expect(all.body.data).toHaveLength(130)
    expect(all.body.data[0].price).toBe(129)
    const range = await send(app, 'GET', '/things?rangeField=price&range=3-5')
    expect(range.body.data).toHaveLength(3)
    const compare = await send(
      app,
      'GET',
      '/things?compareField=price&compareOperator=lt&compareValue=2',
    )
    expect(compare.body.data).toHaveLength(2)
  })

  it('answers, Legacy: lifts the field policy', async () => {
    const app = await withThings({
      legacyMode: true,
      allowedFields: ['name'],
      blockedFields: ['price'],
    })
    const created = await send(app, 'POST', '/things', { name: 'x', price: 7 })
    expect(created.body.data).toMatchObject({ name: 'x', price: 7 })
  })

  it('answers, Legacy: never lifts never-writable keys, operator refusal and the pageSize clamp', async () => {
    const app = await withThings({ legacyMode: true })
    const id = 'a'.repeat(24)
    const created = await send(app, 'POST', '/things', {
      name: 'x',
      _id: id,
      $set: 1,
      createdAt: 'now',
    })
    expect(created.body.data._id).not.toBe(id)
    expect(Object.keys(created.body.data)).toEqual(['_id', 'name'])
    expect((await send(app, 'GET', '/things?price[$ne]=0')).status).toBe(400)
    const page = await send(app, 'GET', '/things?page=1&pageSize=1000')
    expect(page.body.pagination.pageSize).toBe(100)
  })

  it('answers, Legacy: never lifts hidden fields', async () => {
    const app = await withThings({ legacyMode: true })
    for (const query of [
      'sort=secret',
      'rangeField=secret&range=1-2',
      'compareField=secret&compareValue=s1',
    ]) {
      expect((await send(app, 'GET', `/things?${query}`)).status, query).toBe(400)
    }
    expect(JSON.stringify((await send(app, 'GET', '/things')).body)).not.toContain('secret')
  })

  it("answers, Legacy: never lifts QUERY's rules", async () => {
    const app = await withThings({ legacyMode: true })
    expect((await send(app, 'QUERY', '/things', { filter: { price: 1 } })).status).toBe(400)
    expect((await send(app, 'QUERY', '/things', { sort: 'price' })).status).toBe(400)
    expect((await send(app, 'QUERY', '/things', {})).body.data).toHaveLength(100)
  })

  it('answers, Legacy: without it the same requests are refused or capped', async () => {
    const app = await withThings({ allowedFields: ['name'] })
    expect((await send(app, 'GET', '/things')).body.data).toHaveLength(100)
    expect((await send(app, 'GET', '/things?sort=price')).status).toBe(400)
    expect((await send(app, 'GET', '/things?rangeField=price&range=3-5')).status).toBe(400)
    expect((await send(app, 'POST', '/things', { price: 1 })).status).toBe(400)
  })

  it('answers, Legacy: warns loudly at start-up', () => {
    const { app, warnings } = quietly()
    app.mount('/things', createRouter({ model: Thing, legacyMode: true }))
    expect(warnings.map(({ message }) => message).join()).toMatch(/'\/things'.*'legacyMode'/)
  })
})

describe('9 Versioning: createRouterS3upload', () => {
  it('answers, Legacy: top-level options override those in upload, and each app is warned once with ECS_DEP001', () => {
    const router = () =>
      createRouterS3upload({
        model: Thing,
        allowedFields: ['name', 'photo'],
        path: 'photos/',
        fields: [{ name: 'photo' }],
        upload: { path: 'ignored/', maxFiles: 3 },
      })
    for (const { app, warnings } of [quietly(), quietly()]) {
      app.mount('/things', router()).mount('/others', router())
      const told = warnings.flatMap(({ details }) => details ?? [])
      expect(told).toEqual([{ code: 'ECS_DEP001' }])
    }
    expect(() =>
      quietly().app.mount(
        '/t',
        createRouterS3upload({ model: Thing, fields: [{ name: 'nope' as never }] }),
      ),
    ).toThrow(/nope/)
  })

  it('takes extra routes and serves the six routes, as createRouter does', async () => {
    const { app } = quietly()
    const router = createRouterS3upload({
      model: Thing,
      allowedFields: ['name'],
      fields: [{ name: 'photo' }],
    })
    router.get('/count', () => new Response('{"success":true,"data":0}'))
    app.mount('/things', router)
    expect((await send(app, 'POST', '/things', { name: 'x' })).status).toBe(201)
    expect((await send(app, 'GET', '/things/count')).body.data).toBe(0)
  })
})

describe('9 Versioning: ControllerSets', () => {
  function served(sets: ControllerSets<ThingValues>): { app: App; warnings: Warning[] } {
    const { app, warnings } = quietly()
    const Other = defineModel('Other', { fields: { a: z.string() } })
    const router = createRouter({ model: Other, allowedFields: [] })
    router
      .get('/x/things', sets.getAll)
      .query('/x/things', sets.query)
      .post('/x/things', sets.create)
    router
      .get('/x/things/:id', sets.get)
      .patch('/x/things/:id', sets.update)
      .delete('/x/things/:id', sets.delete)
    router.get('/x/old', sets.queryAll).get('/x/old/:id', sets.getById)
    app.mount('/', router)
    return { app, warnings }
  }

  it('answers, Legacy: its bound handlers serve a model without a router', async () => {
    const { app } = served(
      new ControllerSets({ model: Thing, query: ['name'], allowedFields: ['name', 'price'] }),
    )
    const created = await send(app, 'POST', '/x/things', { name: 'a', price: 1 })
    expect(created.status).toBe(201)
    const path = `/x/things/${created.body.data._id}`
    const again = new Request('http://localhost/x/things//', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"name":"z"}',
    })
    Object.defineProperty(again, 'url', { value: 'http://localhost//evil.com/../../x/things' })
    const { headers } = await app.handle(again)
    expect(headers.get('location')).toMatch(/^\/x\/things\/[0-9a-f]{24}$/)
    expect((await send(app, 'PATCH', path, { price: 2 })).body.data.price).toBe(2)
    expect((await send(app, 'GET', path)).body.data).toMatchObject({ name: 'a', price: 2 })
    expect((await send(app, 'GET', '/x/things?name=a')).body.data).toHaveLength(1)
    expect(
      (await send(app, 'QUERY', '/x/things', { filter: { name: 'b' } })).body.data,
    ).toHaveLength(0)
    expect((await send(app, 'DELETE', path)).body.message).toBe('Item successfully deleted.')
    expect((await send(app, 'GET', path)).status).toBe(404)
  })

  it('answers, Legacy: queryAll and getById are aliases of query and get', async () => {
    const sets = new ControllerSets({ model: Thing, allowedFields: ['name'] })
    expect(sets.queryAll).toBe(sets.query)
    expect(sets.getById).toBe(sets.get)
  })

  it('answers, Legacy: the positional form takes model, orderBy, query, search, runAfterCreate, onGet, and each app is warned once', async () => {
    const seen: string[] = []
    const positional = () =>
      new ControllerSets<ThingValues>(
        Thing,
        '-price',
        ['name'],
        ['name'],
        (record) => void seen.push(record.name),
        () => ({ selects: ['name'] }),
      )
    const { app, warnings } = served(positional())
    await send(app, 'POST', '/x/things', { name: 'cheap', price: 1 })
    await send(app, 'POST', '/x/things', { name: 'dear', price: 9 })
    expect(seen).toEqual(['cheap', 'dear'])
    const list = await send(app, 'GET', '/x/things?s=EA')
    expect(list.body.data.map((record: ThingValues) => record.name)).toEqual(['dear', 'cheap'])
    expect(list.body.data[0]).not.toHaveProperty('price')
    const again = served(positional())
    await send(again.app, 'GET', '/x/things')
    await send(again.app, 'GET', '/x/things')
    for (const told of [warnings, again.warnings]) {
      const said = told.filter(({ message }) => message.includes('new ControllerSets('))
      expect(said).toHaveLength(1)
    }
  })
})

describe('answers, Writes: onGet', () => {
  it('accepts populates and selects, the older names of populate and select', async () => {
    const { app } = quietly()
    const Owner = defineModel('Owner', { fields: { name: z.string(), age: z.number() } })
    const Pet = defineModel('Pet', { fields: { name: z.string(), owner: z.string() } })
    app.mount(
      '/owners',
      createRouter({
        model: Owner,
        allowedFields: ['name', 'age'],
        onGet: () => ({ selects: '-age' }),
      }),
    )
    app.mount('/pets', createRouter({ model: Pet, allowedFields: [] }))
    const { body } = await send(app, 'POST', '/owners', { name: 'Ada', age: 36 })
    expect((await send(app, 'GET', `/owners/${body.data._id}`)).body.data).toEqual({
      _id: body.data._id,
      name: 'Ada',
    })
  })
})

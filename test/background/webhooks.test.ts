import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { runDue, webhooks } from '../../src/background/webhooks/index.ts'
import { defineModel } from '../../src/index.ts'
import { apps } from './apps.ts'
import { Memo, received, SECRET, sending, Task, tasks } from './sending.ts'

const OTHER = `whsec_${btoa('another secret of 32 bytes: ....')}`
const DAY = 86_400_000

describe('webhooks', () => {
  it('tell of each change what anyone may see of it, as Standard Webhooks says', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    const app = await sending(it, {
      endpoints: [{ url: own.url, secret: SECRET, models: ['Task'] }],
    })
    const { _id } = await tasks(app).insert({ title: 'a', secret: 'x' })
    await tasks(app).update(_id, { title: 'b' })
    await app.store.collection(Memo).insert({ text: 'not of this endpoint' })
    await tasks(app).delete(_id)
    await runDue(app)
    expect(own.received.map(({ body: { type, data } }) => [type, data])).toEqual([
      ['task.created', expect.objectContaining({ _id, title: 'a' })],
      ['task.updated', expect.objectContaining({ _id, title: 'b' })],
      ['task.removed', expect.objectContaining({ _id, title: 'b' })],
    ])
    expect(own.received[0]?.body.data).not.toHaveProperty('secret')
    expect(Object.keys(own.received[0]?.body ?? {})).toEqual(['type', 'timestamp', 'data'])
    expect(Math.abs(Date.parse(own.received[0]?.body.timestamp ?? '') - Date.now())).toBeLessThan(
      60_000,
    )
    expect(own.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_[A-Za-z0-9-]+$/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    })
    expect(own.invalid.count).toBe(0)
  })

  it('are sent again with the same id until the endpoint says 2xx', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const statuses = [500, 302, 404, 204]
    const own = await received(SECRET, () => statuses.shift() ?? 200)
    const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] })
    await tasks(app).insert({ title: 'a' })
    for (let hour = 0; hour < 6; hour += 1) {
      await runDue(app)
      it.clock.at += 3_600_000
    }
    expect(own.received.map(({ status }) => status)).toEqual([500, 302, 404, 204])
    expect(new Set(own.received.map(({ id }) => id)).size).toBe(1)
  })

  it('are set aside after three days, and sent again when told', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let status = 503
    const own = await received(SECRET, () => status)
    const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] })
    await tasks(app).insert({ title: 'a' })
    await runDue(app)
    const [work] = app.background
    for (let hours = 1; hours < 72; hours += 10) {
      it.clock.at += 10 * 3_600_000
      await runDue(app)
      if (hours < 62) expect(await work?.status()).toMatchObject({ waiting: 1, aside: 0 })
    }
    expect(await work?.status()).toMatchObject({
      waiting: 0,
      aside: 1,
      examples: [{ model: 'Task', to: own.url, error: 'the endpoint responded with 503' }],
    })
    expect(it.log.text).toContain(new URL(own.url).origin)
    expect(it.log.text).not.toContain(new URL(own.url).pathname)
    const tries = own.received.length
    it.clock.at += DAY
    await runDue(app)
    expect(own.received).toHaveLength(tries)
    status = 200
    expect(await work?.retry?.()).toBe(1)
    await runDue(app)
    expect(own.received).toHaveLength(tries + 1)
    expect(await work?.status()).toMatchObject({ waiting: 0, aside: 0 })
  })

  it('end for an endpoint that says 410, until somebody ends that', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const [gone, other] = [await received(SECRET, () => 410), await received(SECRET)]
    const secret = SECRET
    const app = await sending(it, {
      endpoints: [
        { url: gone.url, secret },
        { url: other.url, secret },
      ],
    })
    for (const title of ['a', 'b', 'c']) {
      await tasks(app).insert({ title })
      await runDue(app)
    }
    expect([gone.received.length, other.received.length]).toEqual([1, 3])
    expect(it.log.text).toContain('an endpoint has responded with 410')
    expect(it.log.text).toContain(new URL(gone.url).origin)
    expect(it.log.text).not.toContain(new URL(gone.url).pathname)
    const [work] = app.background
    expect(await work?.status()).toMatchObject({ gone: [gone.url], aside: 0, waiting: 0 })
    await work?.retry?.()
    await tasks(app).insert({ title: 'd' })
    await runDue(app)
    expect([gone.received.length, other.received.length]).toEqual([2, 4])
  })

  it('carry a signature for each secret while one replaces the other', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(OTHER)
    const app = await sending(it, { endpoints: [{ url: own.url, secret: [SECRET, OTHER] }] })
    await tasks(app).insert({ title: 'a' })
    await runDue(app)
    const [{ headers, body } = { headers: {}, body: {} }] = own.received
    expect(own.invalid.count).toBe(0)
    expect(new Webhook(SECRET).verify(JSON.stringify(body), headers)).toEqual(body)
  })

  it('go to the endpoints that a function returns, of those that are there at each try', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const [one, two] = [await received(SECRET, () => 500), await received(SECRET)]
    let isThere = true
    const app = await sending(it, {
      endpoints: async ({ after, kind }) => [
        ...(isThere ? [{ url: one.url, secret: SECRET }] : []),
        ...(after?.title === 'b' || kind === 'removed' ? [{ url: two.url, secret: SECRET }] : []),
      ],
    })
    const { _id } = await tasks(app).insert({ title: 'a' })
    await tasks(app).insert({ title: 'b' })
    await tasks(app).delete(_id)
    await runDue(app)
    expect(one.received.map(({ body }) => body.data.title)).toEqual(['a', 'b'])
    expect(two.received.map(({ body }) => body.type)).toEqual(['task.created', 'task.removed'])
    isThere = false
    it.clock.at += DAY
    await runDue(app)
    expect(one.received).toHaveLength(2)
    expect(await app.background[0]?.status()).toMatchObject({ waiting: 0, aside: 0 })
  })

  it('of one record arrive in order, and one endpoint does not wait for another', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let isDown = true
    const [down, up] = [await received(SECRET, () => (isDown ? 500 : 200)), await received(SECRET)]
    const secret = SECRET
    const app = await sending(it, {
      endpoints: [
        { url: down.url, secret },
        { url: up.url, secret },
      ],
    })
    const { _id } = await tasks(app).insert({ title: '0' })
    for (const title of ['1', '2', '3']) await tasks(app).update(_id, { title })
    await runDue(app)
    expect(up.received.map(({ body }) => body.data.title)).toEqual(['0', '1', '2', '3'])
    expect(down.received.map(({ body }) => body.data.title)).toEqual(['0'])
    isDown = false
    it.clock.at += DAY
    await runDue(app)
    expect(down.received.map(({ body }) => body.data.title)).toEqual(['0', '0', '1', '2', '3'])
  })

  it('that wait for others of a slow endpoint are sent in turn, within the time that those take', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const slow = () => {
      it.clock.at += 6000
      return 200
    }
    const own = await received(SECRET, slow)
    const endpoints = [{ url: own.url, secret: SECRET }]
    const app = await sending(it, { endpoints, concurrency: 2 })
    const { at } = it.clock
    for (let count = 0; count < 12; count += 1) {
      await tasks(app).insert({ title: `${count}` })
      if (count === 0) await runDue(app)
    }
    for (let turns = 0; turns < 40 && own.received.length < 12; turns += 1) {
      await runDue(app)
      it.clock.at += 1000
    }
    expect(own.received).toHaveLength(12)
    expect(it.clock.at - at).toBeLessThan(12 * 9000)
  })

  it('of many records go on while an endpoint that is known to be slow does not respond', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    let status = 200
    const slow = await received(SECRET, ({ body }) => {
      if (body.type === 'task.updated') it.clock.at += 6000
      return status
    })
    const other = await received(SECRET)
    const app = await sending(it, {
      endpoints: [
        { url: slow.url, secret: SECRET },
        { url: other.url, secret: SECRET, kinds: ['created'] },
      ],
    })
    const { _id } = await tasks(app).insert({ title: 'first' })
    await runDue(app)
    await tasks(app).update(_id, { title: 'again' })
    await runDue(app)
    status = 0
    // More than are read of the log at a time.
    for (let count = 0; count < 150; count += 1) await tasks(app).insert({ title: `${count}` })
    const run = runDue(app)
    await vi.waitFor(() => expect(other.received).toHaveLength(151), 5000)
    await vi.waitFor(() => expect(slow.received.length).toBeGreaterThan(2), 5000)
    expect(slow.received.length).toBeLessThan(10)
    await slow.stop()
    await run
  })

  it('do not reach private addresses, whatever name leads there', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    const { port } = new URL(own.url)
    const urls = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0x7f000001',
      '[::ffff:127.0.0.1]',
      'localhost.',
    ].map((host) => `http://${host}:${port}/`)
    const app = await sending(it, {
      allowPrivate: false,
      endpoints: urls.map((url) => ({ url, secret: SECRET })),
    })
    await tasks(app).insert({ title: 'a' })
    await runDue(app)
    expect(own.received).toEqual([])
    expect(await app.background[0]?.status()).toMatchObject({ waiting: urls.length })
    expect(it.log.text).toContain('leads to an address that is not public')
  })
})

describe('webhooks()', () => {
  const url = 'https://example.com/hooks'
  const secret = SECRET
  it.each<[string, unknown, string]>([
    ['no endpoints', {}, "'endpoints' must be a list, or a function"],
    [
      'a secret that is none',
      { endpoints: [{ url, secret: 'guess me' }] },
      "an endpoint: 'secret' must be 'whsec_' and 24 to 64 random bytes in base64",
    ],
    [
      'a short secret',
      { endpoints: [{ url, secret: 'whsec_c2hvcnQ=' }] },
      "an endpoint: 'secret' must be",
    ],
    [
      'three secrets',
      { endpoints: [{ url, secret: [secret, secret, secret] }] },
      "an endpoint: 'secret' must be",
    ],
    [
      'another protocol',
      { endpoints: [{ url: 'ftp://example.com', secret }] },
      "an endpoint: 'url' must be a URL of http or https",
    ],
    ['no URL', { endpoints: [{ secret }] }, "an endpoint: 'url' is missing"],
    [
      'an object of a URL',
      { endpoints: [{ url: new URL(url), secret }] },
      "an endpoint: 'url' must be a URL of http or https",
    ],
    [
      'a URL with a password',
      { endpoints: [{ url: 'https://a:b@example.com', secret }] },
      "an endpoint: 'url' must be a URL of http or https, without a name and password",
    ],
    [
      'an unknown kind',
      { endpoints: [{ url, secret, kinds: ['changed'] }] },
      "an endpoint: 'kinds' names 'changed', but each must be one of created, updated, removed",
    ],
    ['an unknown option', { endpoints: [], retries: 3 }, "unknown option 'retries'"],
  ])('refuses %s', (_, options, message) => {
    const app = apps('2026-11-26T12:00:00Z').app()
    expect(() => webhooks(app, options as never)).toThrow(TypeError)
    expect(() => webhooks(app, options as never)).toThrow(`webhooks: ${message}`)
  })

  it.each([
    ['listed', [{ url, secret }]],
    ['found by a function', () => [{ url, secret }]],
  ])('refuses at start-up an app without changes, if endpoints are %s', async (_, endpoints) => {
    const app = apps('2026-11-26T12:00:00Z').app()
    app.store.collection(defineModel('Plain', { fields: { text: z.string() } }))
    webhooks(app, { endpoints })
    await expect(app.ready()).rejects.toThrow(
      "webhooks: no model keeps changes: add 'changes: true' to those to tell of",
    )
  })

  it('refuses at start-up a model that has no changes', async () => {
    const app = apps('2026-11-26T12:00:00Z').app()
    app.store.collection(Task)
    webhooks(app, { endpoints: [{ url, secret, models: ['Taks'] }] })
    await expect(app.ready()).rejects.toThrow(
      "webhooks: an endpoint: 'models' names 'Taks', which is no model with 'changes' of this app. Did you mean 'Task'?",
    )
  })
})

import { createCollection, eq, queryOnce } from '@tanstack/db'
import { createApp, createRouter, defineModel, HttpError } from 'fieldgate'
import { createClient, type Failure } from 'fieldgate/client'
import { sqliteStore } from 'fieldgate/sqlite'
import { fieldgateCollection } from 'fieldgate/tanstack-db'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'

const Task = defineModel('Task', {
  fields: {
    title: z.string().max(20),
    done: z.boolean().default(false),
    due: z.date().optional(),
  },
  indexes: ['done', 'title'],
  changes: true,
})
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** An app, a client, and what holds writes and the responses to them back. */
function world() {
  const at = {
    ...{ isIn: true, opened: 0, cut: () => {} },
    ...{ sent: async () => {}, answered: Promise.resolve() },
  }
  const app = createApp({ store: sqliteStore(), logger: quiet }).mount(
    '/tasks',
    createRouter({
      model: Task,
      middlewares: [
        () => {
          if (!at.isIn) throw new HttpError(403, 'No.')
        },
      ],
      query: ['done'],
      sortableFields: ['title'],
      live: true,
    }),
  )
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const { method = 'GET' } = init
    const isStream = new Headers(init.headers).get('accept') === 'text/event-stream'
    if (isStream) at.opened += 1
    else await at.sent()
    const request = new Request(input, { ...init, method: method === 'QUERY' ? 'POST' : method })
    if (method === 'QUERY') Object.defineProperty(request, 'method', { value: method })
    const response = await app.handle(request)
    if (!isStream) await at.answered
    if (!(isStream && response.ok && response.body)) return response
    const cutting = new AbortController()
    at.cut = () => cutting.abort()
    const { signal } = cutting
    return new Response(response.body.pipeThrough(new TransformStream(), { signal }))
  }
  onTestFinished(() => app.close())
  const api = createClient<typeof app>('http://localhost', { fetch: fetch as never })
  return { at, app, api: api('/tasks'), tasks: app.store.collection(Task) }
}

type World = ReturnType<typeof world>

/** A collection of what is not done, in the order of titles. */
function collected({ api }: World, onError?: (error: Failure) => void) {
  const collection = createCollection(
    fieldgateCollection({
      ...{ api, where: { done: false }, sort: 'title', startSync: true },
      ...(onError && { onError }),
    }),
  )
  onTestFinished(() => collection.cleanup())
  return { collection, titles: () => collection.toArray.map(({ title }) => title) }
}

it('a collection is what the list is, in its order, and queries see its changes', async () => {
  const all = world()
  const b = await all.tasks.insert({ title: 'b', done: false })
  await all.tasks.insert({ title: 'no', done: true })
  const { collection, titles } = collected(all)
  await collection.preload()
  expect(titles()).toEqual(['b'])
  await all.tasks.insert({ title: 'a', done: false })
  await expect.poll(titles).toEqual(['a', 'b'])
  await all.tasks.update(b._id, { title: 'c' })
  await expect.poll(titles).toEqual(['a', 'c'])
  const found = await queryOnce((q) =>
    q
      .from({ task: collection })
      .where(({ task }) => eq(task.title, 'c'))
      .select(({ task }) => ({ id: task._id })),
  )
  expect(found).toMatchObject([{ id: b._id }])
  await all.tasks.update(b._id, { done: true })
  await expect.poll(titles).toEqual(['a'])
})

it('a write is shown at once, and stays as the server has it, without a moment between', async () => {
  const all = world()
  const { collection, titles } = collected(all)
  await collection.preload()
  const seen: string[][] = []
  collection.subscribeChanges(() => void seen.push(titles()))
  let answer = () => {}
  all.at.answered = new Promise((resolve) => {
    answer = resolve
  })
  const inserted = collection.insert({ title: 'a', due: new Date(0) })
  expect(collection.toArray).toMatchObject([{ title: 'a', due: '1970-01-01T00:00:00.000Z' }])
  // The list has it before the response comes, and it is not there twice.
  await expect.poll(() => all.tasks.count()).toBe(1)
  answer()
  await inserted.isPersisted.promise
  const [stored] = await all.tasks.find()
  expect(collection.toArray).toMatchObject([{ _id: stored?._id, title: 'a', done: false }])
  const id = `${stored?._id}`
  const updated = collection.update(id, (task) => {
    task.title = 'z'
    delete task.due
  })
  expect(titles()).toEqual(['z'])
  await updated.isPersisted.promise
  expect(await all.tasks.findById(id)).not.toHaveProperty('due')
  expect(collection.get(id)).not.toHaveProperty('due')
  await collection.delete(id).isPersisted.promise
  expect(titles()).toEqual([])
  expect(await all.tasks.count()).toBe(0)
  expect(seen.filter(({ length }) => length > 1)).toEqual([])
  expect([...new Set(seen.map(String))]).toEqual(['a', 'z', ''])
})

it('a refused write is taken back, and says which fields are wrong', async () => {
  const all = world()
  const { collection, titles } = collected(all)
  await collection.preload()
  const inserted = collection.insert({ title: 'x'.repeat(21) })
  expect(titles()).toHaveLength(1)
  await expect(inserted.isPersisted.promise).rejects.toMatchObject({
    status: 400,
    fields: { title: expect.any(String) },
  })
  expect(titles()).toEqual([])
})

it('writes of one record arrive in the order in which they were made, also after one that fails', async () => {
  const all = world()
  const { collection, titles } = collected(all)
  await collection.preload()
  await collection.insert({ title: 'a' }).isPersisted.promise
  const id = `${collection.toArray[0]?._id}`
  const titled = (title: string) => {
    const { isPersisted } = collection.update(id, (task) => {
      task.title = title
    })
    return isPersisted.promise
  }
  let count = 0
  // Each takes less time than the one before.
  all.at.sent = () => new Promise((resolve) => setTimeout(resolve, 40 - 10 * count++))
  await Promise.all(['b', 'c', 'd'].map(titled))
  expect([titles(), (await all.tasks.findById(id))?.title]).toEqual([['d'], 'd'])
  count = 0
  const refused = expect(titled('x'.repeat(21))).rejects.toMatchObject({ status: 400 })
  await Promise.allSettled([refused, titled('e'), titled('f')])
  expect((await all.tasks.findById(id))?.title).toBe('f')
  await expect.poll(titles).toEqual(['f'])
})

it('a write of something that does not belong to the list is done, and not kept', async () => {
  const all = world()
  const { collection, titles } = collected(all)
  await collection.preload()
  // Seen at the next event.
  const inserted = collection.insert({ title: 'done', done: true })
  await expect.poll(() => all.tasks.count()).toBe(1)
  await all.tasks.insert({ title: 'next', done: false })
  await inserted.isPersisted.promise
  expect(titles()).toEqual(['next'])
})

it('a page without TLS, where browsers make no UUIDs, has keys for what is not written yet', () => {
  const { schema } = fieldgateCollection({ api: world().api })
  vi.stubGlobal('crypto', {})
  onTestFinished(() => void vi.unstubAllGlobals())
  const keyOf = () => schema['~standard'].validate({ title: 'a' }).value._id
  expect(keyOf()).toEqual(expect.any(String))
  expect(keyOf()).not.toBe(keyOf())
})

it('breaks are bridged, and a list that may not be followed any more says so', async () => {
  const all = world()
  const errors: Failure[] = []
  const { collection, titles } = collected(all, (error) => void errors.push(error))
  await collection.preload()
  all.at.cut()
  const inserted = collection.insert({ title: 'a' })
  await inserted.isPersisted.promise
  expect(titles()).toEqual(['a'])
  expect(all.at.opened).toBe(2)
  all.at.isIn = false
  all.at.cut()
  await expect.poll(() => errors, { timeout: 10_000 }).toMatchObject([{ status: 403 }])
  expect(titles()).toEqual(['a'])
  const other = collected(all, () => {}).collection
  await expect(other.preload()).rejects.toMatchObject({ status: 403, message: 'No.' })
  expect(other.status).toBe('error')
})

it('the types are those of the app', () => {
  const { api } = world()
  const collection = createCollection(fieldgateCollection({ api }))
  const check = () => {
    const found = collection.get('1')
    const due: string | undefined = found?.due
    // @ts-expect-error: a title is a string
    collection.insert({ title: 1 })
    // @ts-expect-error: no such field
    fieldgateCollection({ api, where: { mayor: 'x' } })
    return due
  }
  expect(check).toBeTypeOf('function')
})

it('a router without live lists is an error of the compiler, and of the server', async () => {
  const app = createApp({ store: sqliteStore(), logger: quiet }).mount(
    '/still',
    createRouter({ model: Task, middlewares: [], query: ['done'] }),
  )
  onTestFinished(() => app.close())
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) =>
    app.handle(new Request(input, init))
  const api = createClient<typeof app>('http://localhost', { fetch: fetch as never })
  const failed = Promise.withResolvers<Failure>()
  const given = { api: api('/still'), startSync: true, onError: failed.resolve }
  // @ts-expect-error the router of '/still' has no 'live'
  createCollection(fieldgateCollection(given))
  expect((await failed.promise).status).toBe(406)
})

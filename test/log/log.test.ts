import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { memoryStore } from '../../examples/memory-store/store.ts'
import { batch } from '../../src/batch/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  ref,
  type Store,
  userFields,
} from '../../src/index.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { cheap, password, secret } from '../auth/accounts.ts'
import { type Service, service } from '../records/service.ts'
import { databases } from '../services/memory.ts'

const List = defineModel('LogList', {
  fields: { name: z.string() },
  changes: true,
})
const Task = defineModel('LogTask', {
  fields: {
    title: z.string(),
    done: z.boolean().default(false),
    list: ref('LogList', { onDelete: 'cascade' }).nullish(),
  },
  timestamps: true,
  changes: { keep: '7d' },
})
const Note = defineModel('LogNote', { fields: { text: z.string() } })

interface Logged extends Service {
  /** What was logged since the last call: kind, model and who did it. */
  since(): Promise<string[]>
}

async function logged(): Promise<Logged> {
  const made = service({ store: sqliteStore() })
  const { app } = made
  app.use((request) => {
    const userId = request.headers.get('x-user')
    const key = request.headers.get('x-key')
    const token = request.headers.has('x-token') && { iat: 1 }
    if (userId) request.auth = { userId, ...(key && { claims: { key, ...token } }) }
  })
  for (const [path, model] of [
    ['/lists', List],
    ['/tasks', Task],
    ['/notes', Note],
  ] as const) {
    app.mount(path, createRouter({ model: model as typeof List, middlewares: [] }))
  }
  app.mount('/batch', batch())
  await app.ready()
  const log = hostOf(app.store).changes
  if (!log) throw new Error('the store has no log')
  let after = await log.position()
  return {
    ...made,
    async since() {
      const read = await log.read(after, { limit: 100 })
      if ('gone' in read) throw new Error('gone')
      after = read.position
      return read.changes.map(({ kind, model, by }) => `${kind} ${model} ${by}`)
    },
  }
}

describe('the log of changes', () => {
  it('has each write of a route, and its response names the entry', async () => {
    const { app, send, since } = await logged()
    const log = hostOf(app.store).changes
    const headers = { 'x-user': 'ann' }
    const made = await send('POST', '/tasks', { json: { title: 'a' }, headers })
    const id = String(made.record._id)
    const changed = await send('PATCH', `/tasks/${id}`, {
      json: { done: true },
      // A claim of another server's token names no key.
      headers: { ...headers, 'x-key': 'k1', 'x-token': '1' },
    })
    const key = { ...headers, 'x-key': 'k1' }
    const removed = await send('DELETE', `/tasks/${id}`, { headers: key })
    const entries = await log?.history('LogTask', id, { limit: 10 })
    expect(entries?.map((one) => one.id)).toEqual(
      [removed, changed, made].map((answer) => answer.headers.get('change-id')),
    )
    expect(await since()).toEqual([
      'created LogTask ann',
      'updated LogTask ann',
      'removed LogTask key:k1',
    ])
    const [, update] = entries ?? []
    expect(update).toMatchObject({
      before: { _id: id, title: 'a', done: false, createdAt: expect.any(Date) },
      after: { _id: id, title: 'a', done: true },
    })
  })

  it('has nothing of other models, of refused writes and of those that change nothing', async () => {
    const { send, since, clock } = await logged()
    const note = await send('POST', '/notes', { json: { text: 'a' } })
    expect(note.headers.has('change-id')).toBe(false)
    const task = await send('POST', '/tasks', { json: { title: 'a' } })
    expect(await since()).toEqual(['created LogTask null'])
    clock.at += 1000
    const path = `/tasks/${task.record._id}`
    const same = await send('PATCH', path, { json: { title: 'a', done: false } })
    expect(same).toMatchObject({ status: 200, record: task.record })
    expect(same.headers.has('change-id')).toBe(false)
    expect((await send('PATCH', path, { json: { title: 7 } })).status).toBe(400)
    expect((await send('GET', path)).record).toEqual(task.record)
    expect(await since()).toEqual([])
  })

  it('has what a batch, app.store, atomic steps and cascades write', async () => {
    const { app, send, since } = await logged()
    const headers = { 'x-user': 'ann' }
    const operations = [
      { method: 'POST', path: '/lists', body: { name: 'a' } },
      { method: 'POST', path: '/tasks', body: { title: 'b', list: { $id: 0 } } },
    ]
    const sent = await send('POST', '/batch', { json: { operations }, headers })
    expect(sent.status, sent.text).toBe(200)
    expect(await since()).toEqual(['created LogList ann', 'created LogTask ann'])
    expect(sent.headers.get('change-id')).toMatch(/^[0-9a-z-]{20,}$/)
    const tasks = app.store.collection(Task)
    await tasks.insert({ title: 'c' })
    await tasks.updateWhere({}, { done: true })
    await app.store.atomic(async (tx) => {
      for (const { _id } of await tx.collection(Task).find({ title: 'c' })) {
        await tx.collection(Task).update(_id, { title: 'd' })
        await tx.collection(Task).delete(_id)
      }
      await tx.collection(List).insert({ name: 'e' })
    })
    expect(await since()).toEqual([
      'created LogTask null',
      ...Array(2).fill('updated LogTask null'),
      'updated LogTask null',
      'removed LogTask null',
      'created LogList null',
    ])
    const [list] = await app.store.collection(List).find({ name: 'a' })
    const gone = await send('DELETE', `/lists/${list?._id}`, { headers })
    expect((await since()).sort()).toEqual(['removed LogList ann', 'removed LogTask ann'])
    expect(gone.headers.has('change-id')).toBe(true)
  })

  it('tells who writes in hooks and routes of your own', async () => {
    const { app, send, since } = service({ store: sqliteStore() }) as Logged
    void since
    app.use((request) => {
      request.auth = { userId: 'bob' }
    })
    app.mount(
      '/tasks',
      createRouter({
        model: Task,
        middlewares: [],
        runAfterCreate: async (_task, _request, context) => {
          await context.store.collection(List).insert({ name: 'hook' })
        },
      }),
    )
    app.post('/atomic', async (_request, context) => {
      await context.store.atomic((tx) => tx.collection(List).insert({ name: 'step' }))
      return {}
    })
    app.store.collection(List)
    await app.ready()
    const log = hostOf(app.store).changes
    const start = (await log?.position()) ?? ''
    await send('POST', '/tasks', { json: { title: 'a' } })
    await send('POST', '/atomic')
    const read = await log?.read(start, { limit: 10 })
    expect(read && 'changes' in read && read.changes.map(({ by }) => by)).toEqual([
      'bob',
      'bob',
      'bob',
    ])
  })

  it('has what accounts write', async () => {
    const Member = defineModel('LogMember', {
      fields: { ...userFields({ identifiers: ['email'] }), name: z.string().optional() },
      unique: ['email'],
      changes: true,
    })
    const { app, send } = service({ store: sqliteStore() })
    const auth = createAuthRouter({
      ...{ model: Member, identifiers: ['email'], token: { secret }, password: cheap },
      updateFields: ['name'],
    })
    app.mount('/auth', auth.router)
    await app.ready()
    const log = hostOf(app.store).changes
    const start = (await log?.position()) ?? ''
    const json = { email: 'ann@example.com', password }
    const signedUp = await send('POST', '/auth/register', { json })
    expect(signedUp.status).toBe(201)
    const { token, user } = signedUp.record as { token: string; user: { _id: string } }
    const headers = { authorization: `Bearer ${token}` }
    const changed = await send('PATCH', `/auth/users/${user._id}`, {
      json: { name: 'Ann' },
      headers,
    })
    expect(changed.status, changed.text).toBe(200)
    const read = await log?.read(start, { limit: 10 })
    expect(read && 'changes' in read && read.changes[0]).toMatchObject({
      kind: 'created',
      model: 'LogMember',
      after: { email: 'ann@example.com' },
      by: null,
    })
    const [last] = (await log?.history('LogMember', user._id, { limit: 1 })) ?? []
    expect(last).toMatchObject({ kind: 'updated', by: user._id, after: { name: 'Ann' } })
    expect(changed.headers.get('change-id')).toBe(last?.id)
    const made = read && 'changes' in read ? read.changes[0] : undefined
    expect(signedUp.headers.get('change-id')).toBe(made?.id)
    const passwords = { currentPassword: password, newPassword: `${password} anew` }
    const anew = await send('POST', '/auth/password/change', { json: passwords, headers })
    const [latest] = (await log?.history('LogMember', user._id, { limit: 1 })) ?? []
    expect([anew.status, anew.headers.get('change-id')]).toEqual([200, latest?.id])
  })

  it('says of a write that it could not be noted, while its row is gone', async () => {
    const folder = mkdtempSync(join(databases(), 'fieldgate-log-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'app.db')
    const { app } = service({ store: sqliteStore({ path }) })
    onTestFinished(() => app.close())
    app.mount('/lists', createRouter({ model: List, middlewares: [] }))
    await app.ready()
    const other = new DatabaseSync(path)
    other.exec('DELETE FROM fieldgate_change_log')
    other.close()
    const insert = app.store.collection(List).insert({ name: 'a' })
    await expect(insert).rejects.toThrow('fieldgate_change_log has no row')
  })

  it('is refused where a store keeps none, and for durations that are none', async () => {
    const readyWith = (store: Store) => {
      const { app } = service({ store })
      app.mount('/lists', createRouter({ model: List, middlewares: [] }))
      return app.ready()
    }
    await expect(readyWith(memoryStore())).rejects.toThrow(
      "Model 'LogList': 'changes' can't be logged: the store 'memory' cannot write several records in one step. Use SQLite, PostgreSQL, D1 or a MongoDB replica set, or remove 'changes'.",
    )
    const { changes: _, ...without } = sqliteStore()
    await expect(readyWith(without)).rejects.toThrow(
      "Model 'LogList': 'changes' can't be logged: the store 'sqlite' keeps no log of changes. Use one that does, or remove 'changes'.",
    )
    for (const changes of ['24h', { keep: '24' }, { keep: 0 }, { keep: '-1h' }, { kept: '1h' }]) {
      const define = () => defineModel('LogWrong', { fields: {}, changes: changes as never })
      expect(define, JSON.stringify(changes)).toThrow(
        "Model 'LogWrong': 'changes' must be true, false, or { keep } with a duration like '7d', '12h' or '90m', or 'forever'",
      )
    }
  })
})

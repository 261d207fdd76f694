import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createClient } from '../../src/client/index.ts'
import { createRouter, defineModel, HttpError } from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import type { ChangeLog } from '../../src/ports/store/changes.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import type { RouterOptions } from '../../src/records/setup/options.ts'
import { type Answer, type Service, service } from '../records/service.ts'

const Task = defineModel('HistoryTask', {
  fields: {
    title: z.string().max(10),
    note: z.string().optional(),
    code: z.string().optional(),
    secret: z.string().optional(),
    owner: z.string(),
    wage: z.number().optional(),
  },
  hidden: ['secret'],
  unique: ['code'],
  changes: true,
})

interface Tracked extends Service {
  as(user: string): {
    send: Service['send']
    make(values: object): Promise<string>
    history(id: string, query?: string): Promise<Answer>
    restore(id: string, changeId: unknown): Promise<Answer>
  }
}

function tracked(options: Partial<RouterOptions<z.infer<typeof Task.schema>>> = {}): Tracked {
  const made = service({ store: sqliteStore() })
  const { app } = made
  app.use((request) => {
    const userId = request.headers.get('x-user')
    if (userId) request.auth = { userId }
  })
  const router = createRouter({
    model: Task,
    middlewares: [],
    history: true,
    access: { restore: true },
    scope: (request) =>
      request.auth?.userId === 'admin' ? undefined : { owner: request.auth?.userId ?? '' },
    fieldsFor: (request) =>
      request.auth?.userId === 'admin' ? undefined : ['title', 'note', 'code', 'owner'],
    allowedFields: ['title', 'note', 'code', 'wage', 'secret', 'owner'],
    ...(options as object),
  })
  app.mount('/tasks', router)
  app.mount('/batch', batch())
  const as = (user: string) => {
    const send: Service['send'] = (method, path, message = {}) =>
      made.send(method, path, { ...message, headers: { 'x-user': user, ...message.headers } })
    return {
      send,
      make: async (values: object) =>
        String((await send('POST', '/tasks', { json: values })).record._id),
      history: (id: string, query = '') => send('GET', `/tasks/${id}/history${query}`),
      restore: (id: string, changeId: unknown) =>
        send('POST', `/tasks/${id}/restore`, { json: { changeId } }),
    }
  }
  return { ...made, as }
}

const kinds = ({ records }: Answer) => records.map(({ kind }) => kind)

describe('the history of a record', () => {
  it('a small page reads many changes at a time, of which its reader may see none', async () => {
    const { app, as } = tracked()
    const ann = as('ann')
    const id = await ann.make({ title: 'a' })
    const tasks = app.store.collection(Task)
    for (let at = 0; at < 300; at += 1) await tasks.update(id, { secret: `${at}` })
    const log = hostOf(app.store).changes
    if (!log) throw new Error('the store has no log')
    const reads = vi.spyOn(log, 'history')
    expect(kinds(await ann.history(id, '?pageSize=1'))).toEqual(['created'])
    expect(reads.mock.calls.length).toBeLessThan(8)
  })

  it.each([
    [undefined, 200, 20],
    [100_000, 413, 1],
  ])('few changes of a large record are read at a time: %o', async (most, status, count) => {
    const { app, as } = tracked(most ? { maxResponseBytes: most } : {})
    const ann = as('ann')
    const id = await ann.make({ title: 'a' })
    const tasks = app.store.collection(Task)
    const note = 'x'.repeat(500_000)
    for (let at = 0; at < 20; at += 1) await tasks.update(id, { title: `${at}`, note })
    await tasks.update(id, { note: 'small' })
    const reads = vi.spyOn(hostOf(app.store).changes as ChangeLog, 'history')
    expect((await ann.history(id, '?pageSize=19')).status).toBe(status)
    expect(reads.mock.calls.length).toBeLessThanOrEqual(count)
    expect(Math.max(...reads.mock.calls.map(([, , { limit }]) => limit))).toBe(3)
  })

  it('tells what happened, the latest first, page by page', async () => {
    const ann = tracked().as('ann')
    const id = await ann.make({ title: 'a' })
    for (const title of ['b', 'c', 'd']) {
      await ann.send('PATCH', `/tasks/${id}`, { json: { title } })
    }
    const all = await ann.history(id)
    expect(all.body).toMatchObject({
      success: true,
      data: [
        { kind: 'updated', by: 'ann', changes: { title: { from: 'c', to: 'd' } } },
        { kind: 'updated', changes: { title: { from: 'b', to: 'c' } } },
        { kind: 'updated' },
        {
          kind: 'created',
          changes: { title: { from: null, to: 'a' }, owner: { from: null, to: 'ann' } },
        },
      ],
      pagination: { pageSize: 50, hasMore: false, nextCursor: null },
    })
    expect(Object.keys(all.records[0] ?? {}).sort()).toEqual(['at', 'by', 'changes', 'id', 'kind'])
    const first = await ann.history(id, '?pageSize=3')
    const { nextCursor } = first.body.pagination as { nextCursor: string }
    const rest = await ann.history(id, `?pageSize=3&cursor=${nextCursor}`)
    expect([...first.records, ...rest.records]).toEqual(all.records)
    expect(rest.body.pagination).toEqual({ pageSize: 3, hasMore: false, nextCursor: null })
    const other = await ann.make({ title: 'x' })
    expect(await ann.history(other, `?cursor=${nextCursor}`)).toMatchObject({
      status: 400,
      body: { error: 'Cursor is not a valid pagination token.' },
    })
  })

  it('shows only what the reader may see now', async () => {
    const { as } = tracked()
    const [ann, admin] = [as('ann'), as('admin')]
    const id = await admin.make({ title: 'a', owner: 'bob', wage: 1, secret: 'x' })
    expect((await ann.history(id)).status).toBe(404)
    await admin.send('PATCH', `/tasks/${id}`, { json: { note: 'of bob' } })
    await admin.send('PATCH', `/tasks/${id}`, { json: { owner: 'ann' } })
    await admin.send('PATCH', `/tasks/${id}`, { json: { wage: 2, secret: 'y' } })
    await admin.send('PATCH', `/tasks/${id}`, { json: { note: 'of ann', wage: 3 } })
    const seen = await ann.history(id)
    expect(seen.records.map(({ changes }) => changes)).toEqual([
      { note: { from: 'of bob', to: 'of ann' } },
      {
        title: { from: null, to: 'a' },
        note: { from: null, to: 'of bob' },
        owner: { from: null, to: 'ann' },
      },
    ])
    const whole = await admin.history(id)
    expect(kinds(whole)).toEqual(['updated', 'updated', 'updated', 'updated', 'created'])
    expect(whole.text).not.toContain('secret')
  })

  it('is there after the record is removed, for those who saw it at last', async () => {
    const { as } = tracked()
    const [ann, bob] = [as('ann'), as('bob')]
    const id = await ann.make({ title: 'a' })
    await ann.send('DELETE', `/tasks/${id}`)
    const gone = await ann.history(id)
    expect(kinds(gone)).toEqual(['removed', 'created'])
    expect(gone.records[0]?.changes).toMatchObject({ title: { from: 'a', to: null } })
    expect((await bob.history(id)).status).toBe(404)
    expect((await ann.history('0'.repeat(24))).status).toBe(404)
    expect((await ann.history('x')).status).toBe(400)
  })

  it('has the guards of a read, unless it has others', async () => {
    const guard = () => {
      throw new HttpError(403, 'Not you.')
    }
    const ann = tracked({ access: { read: guard } } as never).as('ann')
    const id = await ann.make({ title: 'a' })
    expect((await ann.history(id)).body.error).toBe('Not you.')
    const bob = tracked({ access: { read: guard, history: true } } as never).as('bob')
    expect((await bob.history(await bob.make({ title: 'a' }))).status).toBe(200)
  })

  it('is off unless the router has it, and needs the log', async () => {
    const { as } = tracked({ history: undefined, access: {} } as never)
    const id = await as('ann').make({ title: 'a' })
    expect((await as('ann').history(id)).status).toBe(404)
    expect((await as('ann').restore(id, 'a-b')).status).toBe(404)
    const unlogged = defineModel('HistoryNone', { fields: { title: z.string() } })
    const { app } = service()
    const mount = (options: object) =>
      app.mount('/x', createRouter({ model: unlogged, middlewares: [], ...options }))
    expect(() => mount({ history: true })).toThrow(
      "Router '/x': 'history' needs the log of changes. Set changes: true in the model 'HistoryNone'",
    )
    expect(() => mount({ access: { restore: true } })).toThrow(
      "Router '/x': 'access.restore' needs history: true",
    )
  })
})

describe('the restore of a record', () => {
  it('writes the fields that the caller may write as they were', async () => {
    const { as } = tracked({ allowedFields: ['title', 'note'] } as never)
    const ann = as('ann')
    const id = await ann.make({ title: 'a' })
    await ann.send('PATCH', `/tasks/${id}`, { json: { title: 'b', note: 'n' } })
    const { records } = await ann.history(id)
    const first = records.at(-1)?.id
    const restored = await ann.restore(id, first)
    expect(restored.status, restored.text).toBe(200)
    expect(restored.record).toEqual({ _id: id, title: 'a', owner: 'ann' })
    expect(restored.headers.get('change-id')).toBe((await ann.history(id)).records[0]?.id)
    expect((await ann.history(id)).records[0]?.changes).toEqual({
      title: { from: 'b', to: 'a' },
      note: { from: 'n', to: null },
    })
    const again = await ann.restore(id, first)
    expect(again.status).toBe(200)
    expect((await ann.history(id)).records).toHaveLength(3)
  })

  it('creates a removed record under its id', async () => {
    const ann = tracked().as('ann')
    const id = await ann.make({ title: 'a', code: 'c' })
    await ann.send('PATCH', `/tasks/${id}`, { json: { title: 'b' } })
    await ann.send('DELETE', `/tasks/${id}`)
    const [removed, , created] = (await ann.history(id)).records
    const restored = await ann.restore(id, created?.id)
    expect(restored).toMatchObject({ status: 201, record: { _id: id, title: 'a', code: 'c' } })
    expect(restored.headers.get('location')).toBe(`/tasks/${id}`)
    await ann.send('DELETE', `/tasks/${id}`)
    expect((await ann.restore(id, removed?.id)).record).toMatchObject({ _id: id, title: 'b' })
    await ann.send('DELETE', `/tasks/${id}`)
    await ann.make({ title: 'x', code: 'c' })
    expect(await ann.restore(id, created?.id)).toMatchObject({
      status: 409,
      body: { fields: { code: expect.any(String) } },
    })
  })

  it.each(['read', 'write'])(
    'brings nothing back that was out of the scope of its %ss',
    async (which) => {
      const all = () => undefined
      const own = ({ auth }: { auth?: { userId: string } }) => ({ owner: auth?.userId ?? '' })
      const { app, as } = tracked({ scope: { read: all, write: all, [which]: own } as never })
      const [ann, bob] = [as('ann'), as('bob')]
      const id = await ann.make({ title: 'hers', owner: 'ann' })
      const hers = (await ann.history(id)).records[0]?.id
      await app.store.collection(Task).update(id, { title: 'his', owner: 'bob' })
      expect((await bob.restore(id, hers)).status).toBe(404)
      expect(await app.store.collection(Task).findById(id)).toMatchObject({ title: 'his' })
    },
  )

  it('is refused for what the caller could not write, and for changes that are none', async () => {
    const { as, send } = tracked({
      beforeUpdate: ({ changes }: { changes: { title?: string } }) => {
        if (changes.title === 'never') throw new HttpError(403, 'Not again.')
        return changes
      },
    } as never)
    const [ann, bob] = [as('ann'), as('bob')]
    const id = await ann.make({ title: 'never' })
    const other = await ann.make({ title: 'o' })
    await ann.send('PATCH', `/tasks/${id}`, { json: { title: 'now' } })
    const created = (await ann.history(id)).records.at(-1)?.id as string
    const foreign = (await ann.history(other)).records[0]?.id
    expect(await ann.restore(id, created)).toMatchObject({
      status: 403,
      body: { error: 'Not again.' },
    })
    expect((await bob.restore(id, created)).status).toBe(404)
    expect((await ann.restore(id, foreign)).status).toBe(404)
    expect(
      (
        await ann.restore(
          id,
          created.replace(/.$/, (last) => (last === 'z' ? 'y' : 'z')),
        )
      ).status,
    ).toBe(404)
    for (const changeId of [undefined, 7, '', 'x', '../x', 'a'.repeat(300)]) {
      expect(await ann.restore(id, changeId), String(changeId)).toMatchObject({
        status: 400,
        body: { error: "'changeId' must be the id of a change of this record." },
      })
    }
    expect((await send('GET', `/tasks/${id}/restore`)).status).toBe(405)
    const read = { headers: { 'x-http-method-override': 'QUERY' }, json: { changeId: created } }
    expect((await ann.send('POST', `/tasks/${id}/restore`, read)).status).toBe(405)
    const operations = [
      { method: 'POST', path: `/tasks/${id}/restore`, body: { changeId: created } },
    ]
    const inBatch = await ann.send('POST', '/batch', { json: { operations } })
    expect(inBatch.status).toBe(400)
    expect((await ann.send('GET', `/tasks/${id}`)).record).toMatchObject({ title: 'now' })
  })

  it('passes the guards of the writes that it does', async () => {
    const only = (name: string) => (request: { auth?: { userId: string } }) => {
      if (request.auth?.userId !== name) throw new HttpError(403, `Only ${name}.`)
    }
    const { as } = tracked({
      scope: undefined,
      access: { restore: true, update: only('ann'), create: only('admin') },
    } as never)
    const [ann, admin] = [as('ann'), as('admin')]
    const id = await admin.make({ title: 'a', owner: 'x' })
    await ann.send('PATCH', `/tasks/${id}`, { json: { title: 'b' } })
    const created = (await ann.history(id)).records.at(-1)?.id
    expect((await admin.restore(id, created)).body.error).toBe('Only ann.')
    expect((await ann.restore(id, created)).status).toBe(200)
    await ann.send('DELETE', `/tasks/${id}`)
    expect((await ann.restore(id, created)).body.error).toBe('Only admin.')
  })

  it('is called by the typed client', async () => {
    const { app } = service({ store: sqliteStore() })
    const mounted = app.mount(
      '/tasks',
      createRouter({ model: Task, middlewares: [], history: true, access: { restore: true } }),
    )
    const api = createClient<typeof mounted>('http://x', {
      fetch: (input, init) => app.handle(new Request(input, init)),
    })
    const tasks = api('/tasks')
    const made = await tasks.create({ title: 'a', owner: 'ann' })
    const id = made.ok ? made.data._id : ''
    await tasks.update(id, { title: 'b' })
    const first = await tasks.history(id, { pageSize: 1 })
    expect(first).toMatchObject({
      ok: true,
      data: [{ kind: 'updated', changes: { title: { from: 'a', to: 'b' } } }],
      pagination: { hasMore: true },
    })
    const cursor = first.ok ? first.pagination?.nextCursor : null
    const second = await tasks.history(id, { cursor: cursor ?? undefined })
    const created = second.ok ? second.data[0]?.id : undefined
    expect(await tasks.restore(id, created ?? '')).toMatchObject({ ok: true, data: { title: 'a' } })
  })

  it('is in the document', async () => {
    const { app } = tracked()
    app.mount('/doc', openapi({ title: 'History', version: '1' }))
    const document = (await (
      await app.handle(new Request('http://x/doc/openapi.json'))
    ).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    expect(document.paths['/tasks/{id}/history']?.get?.operationId).toBe('readHistoryOfHistoryTask')
    expect(document.paths['/tasks/{id}/restore']?.post?.operationId).toBe('restoreHistoryTask')
  })
})

const Made = defineModel('HistoryMade', {
  fields: {
    name: z.string(),
    cents: z
      .number()
      .transform((value) => Math.round(value * 100))
      .pipe(z.int()),
    isOpen: z.stringbool().optional(),
    size: z.number().nullish(),
    any: z.unknown().optional(),
  },
  changes: true,
})

describe('the restore of what a schema has made of its input', () => {
  it('brings the values back as they were, after a change and after the removal', async () => {
    const { app, send } = service({ store: sqliteStore() })
    const allowedFields = ['name', 'cents', 'isOpen', 'size', 'any'] as const
    const options = { history: true, access: { restore: true }, allowedFields } as const
    app.mount('/made', createRouter({ model: Made, middlewares: [], ...options }))
    const { record: first } = await send('POST', '/made', {
      json: { name: 'a', cents: 5, isOpen: 'yes' },
    })
    const path = `/made/${first._id}`
    const { createdAt: _, updatedAt: __, ...before } = first
    expect(before).toMatchObject({ cents: 500, isOpen: true })
    const changes = { name: 'b', cents: 7, isOpen: 'no', size: 5, any: { x: 1 } }
    const { record: changed } = await send('PATCH', path, { json: changes })
    const [second, created] = (await send('GET', `${path}/history`)).records
    const restore = (changeId: unknown) => send('POST', `${path}/restore`, { json: { changeId } })
    const bare = ({ createdAt: _, updatedAt: __, ...record }: Record<string, unknown>) => record
    // Nothing differs.
    expect(bare((await restore(second?.id)).record)).toEqual(bare(changed))
    expect(bare((await restore(created?.id)).record)).toEqual(before)
    await send('DELETE', path)
    expect(bare((await restore(second?.id)).record)).toEqual(bare(changed))
    await send('DELETE', path)
    expect(bare((await restore(created?.id)).record)).toEqual(before)
  })

  it('refuses what the schema of today does not allow', async () => {
    const { app, send } = service({ store: sqliteStore() })
    const fields = { name: z.string(), cents: z.number() }
    const router = (rules: object) =>
      createRouter({
        model: defineModel('HistoryRuled', { fields: { ...fields, ...rules }, changes: true }),
        ...{ middlewares: [], history: true, access: { restore: true } },
        allowedFields: ['name', 'cents'],
      })
    app.mount('/ruled', router({ name: z.string().refine((name) => name !== 'old' || !isLater) }))
    let isLater = false
    const { record } = await send('POST', '/ruled', { json: { name: 'old', cents: 1 } })
    await send('PATCH', `/ruled/${record._id}`, { json: { name: 'new' } })
    const created = (await send('GET', `/ruled/${record._id}/history`)).records.at(-1)
    isLater = true
    const json = { changeId: created?.id }
    expect((await send('POST', `/ruled/${record._id}/restore`, { json })).status).toBe(400)
  })
})

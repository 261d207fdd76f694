import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type AppOptions, createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Span = defineModel('CrossSpan', {
  fields: z
    .object({
      from: z.number(),
      to: z.number(),
      label: z.string().optional(),
      code: z
        .string()
        .transform((text) => text.length)
        .optional(),
    })
    .refine((span) => span.from <= span.to, { path: ['to'], message: 'Ends before it begins.' }),
  timestamps: true,
})
const ENDS_BEFORE = {
  status: 400,
  body: { error: 'Check the submitted values.', fields: { to: 'Ends before it begins.' } },
}

function spans(options: Partial<AppOptions> = {}) {
  const served = service(options)
  served.app.mount(
    '/spans',
    createRouter({ model: Span, allowedFields: ['from', 'to', 'label', 'code'] }),
  )
  return { ...served, stored: served.app.store.collection(Span) }
}

describe('answers, Writes: refinements across fields', () => {
  test('answers, Writes: POST checks them', async () => {
    const { send } = spans()
    expect((await send('POST', '/spans', { json: { from: 1, to: 2 } })).status).toBe(201)
    expect(await send('POST', '/spans', { json: { from: 2, to: 1 } })).toMatchObject(ENDS_BEFORE)
  })

  test('answers, Writes: PATCH checks them against the merged record', async () => {
    const { send } = spans()
    const { record } = await send('POST', '/spans', { json: { from: 5, to: 10 } })
    const path = `/spans/${record._id}`
    expect(await send('PATCH', path, { json: { from: 11 } })).toMatchObject(ENDS_BEFORE)
    expect(await send('PATCH', path, { json: { to: '4' } })).toMatchObject(ENDS_BEFORE)
    expect((await send('PATCH', path, { json: { from: 11, to: 12 } })).record).toMatchObject({
      from: 11,
      to: 12,
    })
    expect((await send('PATCH', path, { json: { label: 'x' } })).record).toMatchObject({
      from: 11,
      to: 12,
      label: 'x',
    })
  })

  test('answers, Writes: PATCH validates the touched fields only; what others hold is taken as it is', async () => {
    const store = sqliteStore()
    const { send, stored } = spans({ store })
    const { _id } = await stored.insert({ from: 5, to: 10 })
    // As an older version of the model may have left it.
    const raw = store.collection({ ...Span, name: Span.collection, searchable: [] })
    await raw.update({ op: 'eq', field: '_id', value: _id }, { set: { label: 5 } })
    const patched = await send('PATCH', `/spans/${_id}`, { json: { to: 11 } })
    expect(patched.record).toMatchObject({ to: 11, label: 5 })
    expect(await send('PATCH', `/spans/${_id}`, { json: { to: 4 } })).toMatchObject(ENDS_BEFORE)
  })

  test('answers, Writes: a transform of an untouched field is not run again over what it made', async () => {
    const { send } = spans()
    const { record } = await send('POST', '/spans', { json: { from: 1, to: 2, code: 'abc' } })
    expect(record.code).toBe(3)
    const patched = await send('PATCH', `/spans/${record._id}`, { json: { to: 3 } })
    expect(patched.record).toMatchObject({ to: 3, code: 3 })
    const again = await send('PATCH', `/spans/${record._id}`, { json: { code: 'abcd' } })
    expect(again.record).toMatchObject({ to: 3, code: 4 })
  })

  test('answers, Writes: a PATCH of an absent record is a 404 even when its fields alone contradict', async () => {
    const { send } = spans()
    expect(
      (await send('PATCH', `/spans/${'a'.repeat(24)}`, { json: { from: 2, to: 1 } })).status,
    ).toBe(404)
  })

  test('answers, Writes: two parallel PATCHes that are right alone and wrong together never both win, 200 runs', async () => {
    const { send, stored } = spans()
    const { _id } = await stored.insert({ from: 0, to: 0 })
    const path = `/spans/${_id}`
    for (let run = 0; run < 200; run += 1) {
      await send('PATCH', path, { json: { from: 5, to: 10 } })
      const answers = await Promise.all([
        send('PATCH', path, { json: { from: 9 } }),
        send('PATCH', path, { json: { to: 6 } }),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
      const record = await stored.findById(_id)
      expect(Number(record?.from)).toBeLessThanOrEqual(Number(record?.to))
    }
  })

  test('answers, Writes: 100 parallel PATCHes of one checked record all succeed', async () => {
    const { send, stored } = spans()
    const { _id } = await stored.insert({ from: 0, to: 0 })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        send('PATCH', `/spans/${_id}`, { json: { to: index } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200))
  })

  test('answers, Writes: asynchronous refinements across fields are awaited', async () => {
    const Pair = defineModel('CrossAsync', {
      fields: z.object({ a: z.string(), b: z.string() }).refine(
        async (pair) => {
          await new Promise((resolve) => setImmediate(resolve))
          return pair.a !== pair.b
        },
        { path: ['b'], message: 'The same.' },
      ),
    })
    const { app, send } = service()
    app.mount('/pairs', createRouter({ model: Pair, allowedFields: ['a', 'b'] }))
    const { record } = await send('POST', '/pairs', { json: { a: 'x', b: 'y' } })
    const refused = await send('PATCH', `/pairs/${record._id}`, { json: { b: 'x' } })
    expect(refused.body.fields).toEqual({ b: 'The same.' })
    expect((await send('PATCH', `/pairs/${record._id}`, { json: { b: 'z' } })).record.b).toBe('z')
  })

  test('answers, Writes: a field that null removes is absent to them', async () => {
    const Contact = defineModel('CrossContact', {
      fields: z
        .object({ mail: z.string().optional(), phone: z.string().optional() })
        .refine((contact) => 'mail' in contact || 'phone' in contact, 'Give one of them.'),
    })
    const { app, send } = service()
    app.mount('/contacts', createRouter({ model: Contact, allowedFields: ['mail', 'phone'] }))
    expect((await send('POST', '/contacts', { json: { mail: null } })).status).toBe(400)
    const { record } = await send('POST', '/contacts', { json: { mail: 'a', phone: null } })
    const path = `/contacts/${record._id}`
    expect((await send('PATCH', path, { json: { mail: null } })).status).toBe(400)
    const moved = await send('PATCH', path, { json: { mail: null, phone: 'b' } })
    expect(moved.record).toEqual({ _id: record._id, phone: 'b' })
  })

  test('answers, Writes: app.store.update and updateWhere check them too', async () => {
    const { stored } = spans()
    const { _id } = await stored.insert({ from: 5, to: 10 })
    await expect(stored.update(_id, { to: 4 })).rejects.toMatchObject({
      status: 400,
      fields: { to: 'Ends before it begins.' },
    })
    await expect(stored.updateWhere({}, { to: 4 })).rejects.toMatchObject({ status: 400 })
    expect(await stored.updateWhere({}, { to: 20 })).toBe(1)
    expect(await stored.find()).toMatchObject([{ from: 5, to: 20 }])
  })
})

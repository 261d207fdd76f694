/** Values that stores and memory could take for others: lists among other types, orders of members, keys of the server. */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import { service } from '../records/service.ts'

describe('the log', () => {
  it.each([true, false])(
    'has no entry for the same members in another order (timestamps: %s)',
    async (timestamps) => {
      const Box = defineModel('OrderedBox', {
        fields: {
          map: z.record(z.string(), z.number()),
          list: z.array(z.object({ a: z.number(), b: z.number() })),
          count: z.number(),
        },
        changes: true,
        timestamps,
      })
      let time = Date.now()
      const now = () => (time += 1)
      const { app, send } = service({ store: sqliteStore(), now })
      app.mount(
        '/boxes',
        createRouter({ model: Box, middlewares: [], allowedFields: ['map', 'list', 'count'] }),
      )
      const box = { map: { a: 1, b: 2 }, list: [{ a: 1, b: 2 }], count: 0 }
      const { record } = await send('POST', '/boxes', { json: box })
      const patch = (json: object) => send('PATCH', `/boxes/${record._id}`, { json })
      const again = await patch({ map: { b: 2, a: 1 }, list: [{ b: 2, a: 1 }], count: 0 })
      expect([again.status, again.headers.get('change-id'), again.record]).toEqual([
        200,
        null,
        record,
      ])
      // JSON has a minus before a zero, which is the same number.
      const zero = await app.handle(
        new Request(`http://localhost/boxes/${record._id}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: '{"count":-0}',
        }),
      )
      expect([zero.headers.get('change-id'), await zero.json()]).toEqual([
        null,
        { success: true, data: record },
      ])
      expect((await patch({ map: { b: 2, a: 3 } })).headers.get('change-id')).toEqual(
        expect.any(String),
      )
    },
  )
})

describe('the history of a record', () => {
  it('is there where the record is, also by a field that may hold lists and more', async () => {
    const Note = defineModel('MixedNote', {
      fields: { team: z.union([z.string(), z.array(z.string())]), text: z.string() },
      changes: true,
    })
    const { app, send } = service({ store: sqliteStore() })
    const scope = () => ({ team: 'a' })
    app.mount(
      '/notes',
      createRouter({ model: Note, middlewares: [], history: true, live: true, scope }),
    )
    const own = await app.store.collection(Note).insert({ team: 'a', text: 'own' })
    const other = await app.store.collection(Note).insert({ team: ['a'], text: 'other' })
    const statusOf = async (path: string) => (await send('GET', path)).status
    for (const [{ _id }, status] of [
      [own, 200],
      [other, 404],
    ] as const) {
      expect([await statusOf(`/notes/${_id}`), await statusOf(`/notes/${_id}/history`)]).toEqual([
        status,
        status,
      ])
    }
    expect((await send('GET', '/notes')).records).toEqual([own])
    const stream = await app.handle(
      new Request('http://localhost/notes', { headers: { accept: 'text/event-stream' } }),
    )
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (part: string) => {
      while (!text.includes(part)) text += (await reader?.read())?.value ?? part
    }
    await until('own')
    await app.store.collection(Note).update(other._id, { text: 'others' })
    await app.store.collection(Note).update(own._id, { text: 'owner' })
    await until('owner')
    expect(text).not.toContain('other')
    await reader?.cancel()
  })
})

describe('the restore of a record', () => {
  it('brings back keys that no client may write', async () => {
    const Price = defineModel('RestoredPrice', {
      fields: { prices: z.record(z.string(), z.number()), name: z.string() },
      changes: true,
    })
    const { app, send } = service({ store: sqliteStore() })
    const options = {
      history: true,
      access: { restore: true },
      allowedFields: ['prices', 'name'],
    } as const
    app.mount('/prices', createRouter({ model: Price, middlewares: [], ...options }))
    const prices = { 'v1.2': 5, $a: 1, _id: 2, constructor: 3, plain: 4 }
    const { _id } = await app.store.collection(Price).insert({ prices, name: 'a' })
    const path = `/prices/${_id}`
    const [{ id: changeId } = {}] = (await send('GET', `${path}/history`)).records
    const restored = () => send('POST', `${path}/restore`, { json: { changeId } })
    await send('PATCH', path, { json: { prices: { plain: 1 } } })
    expect((await restored()).record.prices).toEqual(prices)
    await send('DELETE', path)
    expect((await restored()).record.prices).toEqual(prices)
  })
})

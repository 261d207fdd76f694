import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import { service } from '../records/service.ts'

it('what is written to an object that convert reads stays, and is not made of what was there before', async () => {
  const store = sqliteStore()
  const address = z.object({ line: z.string() })
  const Before = defineModel('Moved', { fields: { name: z.string(), address } })
  const before = service({ store }).app.store.collection(Before)
  const ids = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (name) => {
      const { _id } = await before.insert({ name, address: { line: `${name} Street` } })
      return _id
    }),
  )
  const home = z.object({
    street: z.string(),
    zip: z.string().optional(),
    door: z.int().default(1),
  })
  const Now = defineModel('Moved', {
    fields: { name: z.string(), home },
    renamed: { address: 'home' },
    convert: { home: (stored) => ({ street: String((stored as { line?: string }).line) }) },
  })
  const { app, send } = service({ store })
  app.mount('/moved', createRouter({ model: Now, middlewares: [] })).mount('/batch', batch())
  const records = app.store.collection(Now)
  const [one, two, three, four] = ids as [string, string, string, string]
  const json = { home: { street: 'New Street' } }
  const shown = { street: 'New Street', door: 1 }
  expect(await send('PATCH', `/moved/${one}`, { json })).toMatchObject({
    body: { data: { home: shown } },
  })
  const operations = [{ method: 'PATCH', path: `/moved/${two}`, body: json }]
  expect((await send('POST', '/batch', { json: { operations } })).status).toBe(200)
  await app.store.atomic((tx) => tx.collection(Now).update(three, { home: { ...shown } }))
  const found = await records.find({}, { sort: 'name' })
  const old = { street: 'd Street', door: 1 }
  expect(found.map((record) => record.home)).toEqual([shown, shown, shown, old])
  expect(found[3]?._id).toBe(four)
})

it('what is hidden in such an object stays, as convert makes it', async () => {
  const store = sqliteStore()
  const Before = defineModel('Held', {
    fields: { home: z.object({ line: z.string(), code: z.int() }) },
  })
  const before = service({ store }).app.store.collection(Before)
  const { _id } = await before.insert({ home: { line: 'Old Street', code: 7 } })
  const Now = defineModel('Held', {
    fields: { home: z.object({ street: z.string(), code: z.string() }) },
    hidden: ['home.code'],
    convert: {
      home: (stored) => {
        const { line, code } = stored as Fields
        return { street: String(line), code: String(code) }
      },
    },
  })
  const { app, send } = service({ store })
  app.mount('/held', createRouter({ model: Now, middlewares: [] }))
  const json = { home: { street: 'New Street' } }
  const home = { street: 'New Street' }
  expect(await send('PATCH', `/held/${_id}`, { json })).toMatchObject({ body: { data: { home } } })
  expect(await app.store.collection(Now).find()).toEqual([{ _id, home: { ...home, code: '7' } }])
})

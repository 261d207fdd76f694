import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../../records/service.ts'
import { Author, shop } from './books.ts'
import { type Cases, status } from './case.ts'

/** How much a request may ask for. */
export const limits: Cases = {
  'a body with 150 mistakes': {
    row: 'a refusal names every mistake',
    asks: async () => {
      const { app, send } = service()
      const names = Array.from({ length: 150 }, (_, at) => `f${at}`)
      const fields = Object.fromEntries(names.map((name) => [name, z.number()]))
      const Wide = defineModel('RecordedWide', { fields })
      app.mount('/wide', createRouter({ model: Wide, allowedFields: names }))
      const json = Object.fromEntries(names.map((name) => [name, 'x']))
      return Object.keys((await send('POST', '/wide', { json })).body.fields ?? {}).length
    },
    there: 150,
    here: 100,
  },
  'three references, where two are the limit': {
    row: '`populate` fills in every reference',
    asks: async () => {
      const { app, get, post } = await shop({
        onGet: () => ({ populate: 'author' }),
        maxPopulated: 2,
      })
      for (const name of ['Bea', 'Cleo', 'Dora']) {
        const { _id } = await app.store.collection(Author).insert({ name })
        await post({ title: `by ${name}`, author: _id })
      }
      const path = '/own?sort=title&title=by%20Bea&title=by%20Cleo&title=by%20Dora'
      const records = (await get(path)).body.data as { author?: unknown }[]
      return records.map(({ author }) => typeof author)
    },
    there: ['object', 'object', 'object'],
    here: ['object', 'object', 'string'],
  },
  'a list beyond its limit in bytes': {
    row: 'a response may have any size',
    asks: async () => status((await shop({ maxResponseBytes: 100 })).get('/own')),
    there: 200,
    here: 413,
  },
  'a body with more than 20,000 values': {
    row: 'a body may have any number of values',
    asks: async () => {
      const keys = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, 1]))
      return status((await shop()).post({ title: 'x', ...keys }))
    },
    there: 201,
    here: 413,
  },
  'a list of more than 100': {
    asks: async () => {
      const { get, post } = await shop()
      for (let at = 0; at < 100; at += 1) await post({ title: `t${at}` })
      return ((await get('/books')).body.data as unknown[]).length
    },
    there: 100,
  },
}

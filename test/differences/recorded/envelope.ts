import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { type Answer, service } from '../../records/service.ts'
import { BOOKS, Book, shop } from './books.ts'
import { type Cases, each, record, starts, status } from './case.ts'

async function typed(response: Promise<Answer>): Promise<unknown> {
  const { status, headers } = await response
  return [status, headers.get('content-type')?.split(';')[0]]
}

/** The books, and what another app with other fields writes among them. */
async function withOthers(fields: Record<string, z.ZodType>) {
  const store = sqliteStore()
  const { get } = await shop({}, { store })
  const Other = defineModel('RecordedOther', { fields, collection: 'recordedbooks' })
  const others = service({ store }).app.store.collection(Other)
  return { get, insert: (values: object) => others.insert(values as never) }
}

/** Around records: methods, headers, and what a response shows. */
export const envelope: Cases = {
  'an unknown route': {
    row: 'an unknown route is an HTML page',
    asks: async () => typed((await shop()).get('/nowhere')),
    there: [404, 'text/html'],
    here: [404, 'application/json'],
  },
  'a PUT': {
    row: "a method that a path doesn't have is an HTML 404",
    asks: async () => {
      const { send, ids } = await shop()
      const { status, headers } = await send('PUT', `/books/${ids[0]}`, { json: { title: 'x' } })
      return [status, headers.has('allow')]
    },
    there: [404, false],
    here: [405, true],
  },
  'QUERY on one record': {
    asks: async () => {
      const { send, ids } = await shop()
      return status(send('QUERY', `/books/${ids[0]}`, { json: {} }))
    },
    there: 404,
  },
  'OPTIONS on the list': {
    asks: async () => {
      const { status, headers } = await (await shop()).send('OPTIONS', '/books')
      return [status, headers.get('accept-query')]
    },
    there: [200, 'application/json'],
  },
  'a path in other letters': {
    row: 'paths are matched in any case',
    asks: async () => status((await shop()).get('/Books')),
    there: 200,
    here: 404,
  },
  'the Cache-Control of a list': {
    row: 'public reads have no `Cache-Control`',
    asks: async () => (await (await shop()).get('/books')).headers.get('cache-control'),
    there: null,
    here: 'no-cache',
  },
  'the Location of a new record': {
    row: 'a 201 has no `Location`',
    asks: async () => (await (await shop()).post({ title: 'x' })).headers.has('location'),
    there: false,
    here: true,
  },
  'a Host that is no host': {
    row: 'any `Host` header is accepted',
    asks: async () => {
      const { app } = await shop()
      const headers = { host: 'a b, c' }
      return status(app.handle(new Request('http://localhost/books', { headers })))
    },
    there: 200,
    here: 400,
  },
  'a stored member that the model does not declare': {
    row: 'responses show every stored member, declared or not',
    asks: async () => {
      const { get, insert } = await withOthers({ title: z.string(), extra: z.string() })
      await insert({ title: 'other', extra: 'x' })
      return each(get('/books?title=other'), 'extra')
    },
    there: ['x'],
    here: [undefined],
  },
  'the members of a new record': {
    row: 'records have `__v`',
    asks: async () => Object.keys((await record((await shop()).post({ title: 'x' }))) as object),
    there: ['title', 'stock', '_id', '__v'],
    here: ['_id', 'title', 'stock'],
  },
  'a default that an old record lacks': {
    asks: async () => {
      const { get, insert } = await withOthers({ title: z.string() })
      await insert({ title: 'other' })
      return each(get('/books?title=other'), 'stock')
    },
    there: [0],
  },
  'a POST of a hidden field': {
    row: 'a POST may answer with hidden fields',
    asks: async () => {
      const made = await record((await shop()).post({ title: 'x', secret: 'psst' }))
      return (made as { secret?: string }).secret
    },
    there: 'psst',
    here: undefined,
  },
  'a body that is no JSON by its type': {
    row: "a write whose type isn't JSON",
    asks: async () => {
      const { send } = await shop()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return status(send('POST', '/books', { body: 'title=x', headers }))
    },
    there: 400,
    here: 415,
  },
  'a QUERY that is no JSON by its type': {
    asks: async () => {
      const { send } = await shop()
      const headers = { 'content-type': 'text/plain' }
      return status(send('QUERY', '/books', { body: '{}', headers }))
    },
    there: 415,
  },
  'a guard that changes the body': {
    row: 'middlewares change `req.body`',
    asks: async () => {
      const { app, send } = await shop()
      const write = (request: Request) => {
        Object(request.body).author = 'me'
      }
      app.mount('/owned', createRouter({ model: Book, ...BOOKS, middlewares: [write] }))
      return status(send('POST', '/owned', { json: { title: 'x' } }))
    },
    there: 201,
    here: 500,
  },
  'a middleware of Express': {
    row: 'middlewares take `(req, res, next)`',
    asks: async () => {
      const { app } = await shop()
      const middleware = (_req: unknown, _res: unknown, next: () => void) => next()
      const options = { model: Book, ...BOOKS, middlewares: [middleware as never] }
      return starts(() => app.mount('/other', createRouter(options)))
    },
    there: 'starts',
    here: 'is refused',
  },
  'a read that a guard refuses': {
    asks: async () => {
      const { app, send } = await shop()
      const refuse = () => new Response(null, { status: 403 })
      const options = { model: Book, ...BOOKS, middlewares: [refuse] }
      app.mount('/guarded', createRouter(options))
      return status(send('GET', '/guarded'))
    },
    there: 403,
  },
}

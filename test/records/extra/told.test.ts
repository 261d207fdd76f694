import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { audit } from '../../../src/audit/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { document } from '../../../src/openapi/index.ts'

const Slot = defineModel('ToldSlot', { fields: { tool: z.string() } })

const app = createApp({ store: sqliteStore() })
  .mount(
    '/slots',
    createRouter({ model: Slot, middlewares: [], access: { list: false, read: false } }).post(
      '/:id/book',
      ({ params }) => ({ id: params.id, at: new Date() }),
      {
        summary: 'Books a slot',
        params: z.object({ id: z.int() }),
        query: z.object({ dry: z.boolean().optional() }),
        body: z.object({ from: z.date(), note: z.string().optional() }),
        response: z.object({ id: z.int(), at: z.date() }),
      },
    ),
  )
  .get('/sums', () => [{ total: 1 }], { response: z.array(z.object({ total: z.number() })) })
  .get('/plain', () => 'hello')

it('the OpenAPI document shows what a route of your own takes and returns', () => {
  const { paths, components, tags } = document(app, { title: 'T', version: '1' }) as never as {
    paths: Record<
      string,
      Record<string, { requestBody: unknown; responses: object; tags: string[] }>
    >
    components: { schemas: Record<string, unknown> }
    tags: unknown
  }
  const booked = paths['/slots/{id}/book']?.post
  expect(booked).toMatchObject({
    summary: 'Books a slot',
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'dry', in: 'query', schema: { type: 'boolean' } },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/PostSlotsIdBookBody' } },
      },
    },
  })
  expect(Object.keys(booked?.responses ?? {})).toEqual(
    expect.arrayContaining(['2XX', '400', '415']),
  )
  expect(booked?.responses).toMatchObject({
    '2XX': {
      content: {
        'application/json': {
          schema: {
            properties: {
              success: { const: true },
              data: { $ref: '#/components/schemas/PostSlotsIdBookResponse' },
            },
          },
        },
      },
    },
  })
  expect(components.schemas).toMatchObject({
    PostSlotsIdBookBody: {
      properties: { from: { type: 'string', format: 'date-time' }, note: { type: 'string' } },
      required: ['from'],
    },
    PostSlotsIdBookResponse: { required: ['id', 'at'] },
  })
  expect(paths['/sums']?.get?.tags).toEqual(['/'])
  expect(tags).toContainEqual({ name: '/', description: 'Other routes' })
})

it('the audit shows what a route of your own takes and returns', () => {
  const rows = audit(app)
  const none = { model: null, who: 'anyone', scope: false, filter: [], sort: [], search: [] }
  expect(rows.find(({ path }) => path === '/slots/:id/book')).toEqual({
    ...{ ...none, method: 'POST', path: '/slots/:id/book' },
    ...{ read: ['id', 'at'], write: ['from', 'note'], params: ['id'], query: ['dry'] },
  })
  expect(rows.filter(({ path }) => ['/sums', '/plain'].includes(path))).toEqual([
    { ...none, method: 'GET', path: '/sums', read: ['total'], write: [] },
    { ...none, method: 'GET', path: '/plain', read: [], write: [] },
  ])
})

import { expect, it } from 'vitest'
import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import { service } from '../records/service.ts'

const Thing = defineModel('EchoThing', {
  fields: {
    name: z.string().optional(),
    n: z.number().optional(),
    kind: z.enum(['a', 'b']).optional(),
    map: z.record(z.string(), z.number()).optional(),
    closed: z.strictObject({ a: z.number() }).optional(),
    deep: z.unknown().optional(),
  },
})
const MARK = 'k'.repeat(60_000)

/** Bodies and URLs with a long text in each place that a client can fill. */
const json = (method: string, path: string, body: unknown) => [method, path, body] as const
const SENT = [
  json('QUERY', '/things', { sort: MARK }),
  json('QUERY', '/things', { filter: { [MARK]: 1 } }),
  json('QUERY', '/things', { filter: { n: { [MARK]: 1 } } }),
  json('QUERY', '/things', { filter: { n: MARK } }),
  json('QUERY', '/things', { [MARK]: 1 }),
  json('QUERY', '/things', { cursor: MARK }),
  json('POST', '/things', { n: MARK }),
  json('POST', '/things', { kind: MARK }),
  json('POST', '/things', { map: { [MARK]: 'x' } }),
  json('POST', '/things', { closed: { a: 1, [MARK]: 1 } }),
  json('POST', '/things', { deep: { [MARK]: [[[[[[[[[[1]]]]]]]]]] } }),
  json('PATCH', `/things/${MARK.slice(0, 9000)}`, { n: 1 }),
  json('POST', '/batch', { operations: [{ method: MARK, path: '/things' }] }),
  json('POST', '/batch', {
    operations: [{ method: 'POST', path: '/things', body: { map: { [MARK]: 'x' } } }],
  }),
  ...['sort', 'n', 'compareOperator', 'rangeField', 'compareField', 'page', 's'].map((name) =>
    json('GET', `/things?${name}=${MARK}&compareValue=1&range=1-2`, undefined),
  ),
  json('GET', `/things?${MARK}[a]=1&n[${MARK}]=2`, undefined),
  json('GET', `/${MARK}`, undefined),
]

it.each(SENT.map((sent, at) => [at, ...sent] as const))(
  'an error repeats at most 200 characters that a client sent (%i: %s)',
  async (_, method, path, body) => {
    const { app, send } = service()
    const names = ['name', 'n', 'kind', 'map', 'closed', 'deep'] as const
    const lists = { query: ['n', 'kind'], search: ['name'], sortableFields: ['n'] } as const
    app.mount(
      '/things',
      createRouter({ model: Thing, allowedFields: names, middlewares: [], ...lists }),
    )
    app.mount('/batch', batch())
    const { text } = await send(method, path, body === undefined ? {} : { json: body })
    const longest = Math.max(0, ...(text.match(/k+/g) ?? []).map((run) => run.length))
    expect(longest).toBeLessThanOrEqual(200)
  },
)

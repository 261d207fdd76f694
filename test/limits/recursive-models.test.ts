import { expect, test } from 'vitest'
import * as z from 'zod'
import { audit } from '../../src/audit/index.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import { document } from '../../src/openapi/index.ts'
import { service } from '../records/service.ts'
import { processorClock } from './processor-time.ts'

const NAMES = [
  'add',
  'sub',
  'mul',
  'div',
  'mod',
  'pow',
  'and',
  'or',
  'xor',
  'eq',
  'lt',
  'gt',
] as const

/** An expression: one of several objects, with expressions in two of their members. */
const Expression: z.ZodType = z.lazy(() => {
  const operands = { left: Expression, right: Expression, at: z.date().optional() }
  return z.discriminatedUnion('is', [
    z.object({ is: z.literal('number'), value: z.number() }),
    ...NAMES.map((name) => z.object({ is: z.literal(name), ...operands })),
  ])
})

/** An object with itself in most of its members. */
const Tree: z.ZodType = z.object({
  name: z.string().optional(),
  at: z.date().optional(),
  get and() {
    return Tree.optional()
  },
  get or() {
    return Tree.readonly().optional()
  },
  get not() {
    return Tree.nullish()
  },
})

const BASE = { middlewares: [], allowedFields: ['field'] } as const

test.each([
  ['expressions', Expression, { is: 'or', left: { is: 'number', value: 1 }, right: { is: 'and' } }],
  ['trees', Tree, { name: 'a', not: { and: { name: 'b', at: '2026-01-01T00:00:00.000Z' } } }],
])('%s, which refer to themselves in many places, are served at once', async (name, field, of) => {
  const used = processorClock()
  const Held = defineModel(`Recursive ${name}`, { fields: { field } })
  const { app, send } = service()
  const query = (name === 'trees' ? ['field.not.name'] : []) as never[]
  app.mount('/held', createRouter({ model: Held, ...BASE, query }))
  const one = { is: 'number', value: 2 }
  const value = name === 'trees' ? of : { ...of, right: { is: 'and', left: one, right: one } }
  const { record } = await send('POST', '/held', { json: { field: value } })
  expect((await send('GET', '/held')).records).toEqual([record])
  expect(record.field).toEqual(value)
  const list = audit(app).find(({ method, path }) => method === 'GET' && path === '/held')
  expect(list?.filter).toEqual(query)
  document(app, { title: 'Test', version: '1.0' })
  expect(used()).toBeLessThan(2000)
})

test('a null deep inside costs no more where there are many kinds of objects', async () => {
  const Held = defineModel('RecursiveNulls', { fields: { field: Expression } })
  const { app, send } = service()
  app.mount('/held', createRouter({ model: Held, ...BASE }))
  const end = { is: 'number', value: 1 }
  let field: object = { is: 'or', left: end, right: end, at: null }
  for (let depth = 0; depth < 6; depth += 1) field = { is: 'or', left: field, right: end }
  const used = processorClock()
  expect((await send('POST', '/held', { json: { field } })).status).toBe(201)
  expect(used()).toBeLessThan(1000)
})

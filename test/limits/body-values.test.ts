/**
 * A body of JSON has a limited number of keys and values, whatever reads it.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batch } from '../../src/batch/index.ts'
import { parseJson } from '../../src/http/body/body.ts'
import { createAuthRouter, createRouter, defineModel } from '../../src/index.ts'
import { authOptions, password, secret, userModel } from '../auth/accounts.ts'
import { service } from '../records/service.ts'
import { runs } from '../runs.ts'

const MOST = 30
const TOO_MANY = `Request body exceeds the limit of ${MOST} values.`
const json = { 'content-type': 'application/json' }

const Thing = defineModel('BodyValuesThing', {
  fields: {
    name: z.string().optional(),
    list: z.array(z.number()).optional(),
    any: z.unknown().optional(),
    photo: z.string().optional(),
  },
})
const User = userModel({})

/** An app with every door that reads JSON. */
function doors(options: object = { maxBodyValues: MOST }) {
  const made = service({ secret, ...options })
  const { app } = made
  const common = { model: Thing, middlewares: [], query: ['name'] as const }
  const router = createRouter({ ...common, allowedFields: ['name', 'list', 'any'] })
  router.post('/extra', async (request) => Response.json(await request.json()))
  router.post('/copied', async (request) => Response.json(await request.clone().json()))
  app.mount('/things', router)
  const upload = { fields: [{ name: 'photo' as const }] }
  app.mount('/forms', createRouter({ ...common, allowedFields: ['list', 'any'], upload }))
  app.mount('/batch', batch())
  app.mount('/auth', createAuthRouter(authOptions(User, [])).router)
  return made
}

const numbers = (count: number): number[] => Array(count).fill(0)

/** The least limit with which a text is taken. */
function valuesOf(text: string): number {
  const bytes = new TextEncoder().encode(text)
  for (let most = 1; ; most += 1) {
    try {
      parseJson(bytes, most)
      return most
    } catch (error) {
      expect(error).toMatchObject({ status: 413 })
    }
  }
}

/** Keys and values, counted one by one. */
function counted(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  const members = Object.values(value)
  const keys = Array.isArray(value) ? 0 : members.length
  return members.reduce<number>((sum, member) => sum + counted(member), 1 + keys)
}

describe('the keys and values of a body', () => {
  it.each([
    ['1', 1],
    ['"a,b:[{\\"c"', 1],
    ['[]', 1],
    [' { } ', 1],
    ['[1,-2.5e+3,true,null,"",[],{}]', 8],
    ['{"a":1,"b":{"c":[2]}}', 8],
    ['[\n\t1 ,\r\n2 ]', 3],
  ])('of %s are %i', (text, count) => expect(valuesOf(text)).toBe(count))

  it('are counted whatever the JSON looks like', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(valuesOf(text)).toBe(counted(JSON.parse(text)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('may be 20,000, and no more', async () => {
    const s = doors({})
    const most = await s.send('POST', '/things', { json: { list: numbers(19_997) } })
    expect(most.status).toBe(201)
    expect(most.record.list).toHaveLength(19_997)
    const over = await s.send('POST', '/things', { json: { list: numbers(19_998) } })
    expect([over.status, over.body.error]).toEqual([
      413,
      'Request body exceeds the limit of 20000 values.',
    ])
  })

  it('are refused before anything else is said of the body', async () => {
    const s = doors()
    for (const body of ['[', '{"a" ', '"']) {
      const answer = await s.send('POST', '/things', {
        body: body + '[1],'.repeat(1000),
        headers: json,
      })
      expect(answer.status).toBe(body === '"' ? 400 : 413)
    }
  })
})

describe('a body with too many values is refused', () => {
  const list = numbers(MOST)

  it.each([
    ['POST', '/things', { list }],
    ['POST', '/things', { any: Object.fromEntries(list.map((_, at) => [`k${at}`, at])) }],
    ['POST', '/things', { none: list }],
    ['QUERY', '/things', { filter: { name: { in: list } } }],
    ['POST', '/things/extra', list],
    ['POST', '/things/copied', list],
    ['POST', '/forms', { list }],
    ['POST', '/auth/register', { email: 'a@example.com', password, list }],
    ['POST', '/auth/login', { identifier: list, password }],
    ['POST', '/auth/password/forgot', { identifier: list }],
  ])('%s %s', async (method, path, body) => {
    const s = doors()
    const answer = await s.send(method, path, { json: body })
    expect([answer.status, answer.body.error]).toEqual([413, TOO_MANY])
    expect(await s.app.store.collection(Thing).count({})).toBe(0)
  })

  it('PATCH', async () => {
    const s = doors()
    const { record } = await s.send('POST', '/things', { json: { name: 'a' } })
    const answer = await s.send('PATCH', `/things/${record._id}`, { json: { list } })
    expect([answer.status, answer.body.error]).toEqual([413, TOO_MANY])
  })

  it('a batch, whose operations are one body', async () => {
    const s = doors()
    const operation = (count: number) => ({
      method: 'POST',
      path: '/things',
      body: { list: numbers(count) },
    })
    const fits = await s.send('POST', '/batch', { json: { operations: [operation(8)] } })
    expect(fits.status).toBe(200)
    const operations = [operation(8), operation(8)]
    const answer = await s.send('POST', '/batch', { json: { operations } })
    expect([answer.status, answer.body.error]).toEqual([413, TOO_MANY])
    expect(await s.app.store.collection(Thing).count({})).toBe(1)
  })

  it('a form, whose fields of JSON are one body', async () => {
    const s = doors()
    const send = (...texts: readonly [string, string][]) => {
      const body = new FormData()
      for (const [name, text] of texts) body.append(name, text)
      return s.send('POST', '/forms', { body })
    }
    const half = JSON.stringify(numbers(MOST / 2))
    expect((await send(['list', half])).status).toBe(201)
    for (const texts of [
      [
        ['list', half],
        ['any', half],
      ],
      [['list', JSON.stringify(list)]],
      [['any', `${half.slice(0, -1)},${half}]`]],
    ] as [string, string][][]) {
      const answer = await send(...texts)
      expect([answer.status, answer.body.error]).toEqual([413, TOO_MANY])
    }
    expect(await s.app.store.collection(Thing).count({})).toBe(1)
  })

  it('but stored records may have more', async () => {
    const s = doors()
    const { _id } = await s.app.store.collection(Thing).insert({ list: numbers(50_000) })
    const read = await s.send('GET', `/things/${_id}`)
    expect(read.record.list).toHaveLength(50_000)
    const changed = await s.send('PATCH', `/things/${_id}`, { json: { name: 'a' } })
    expect(changed.record).toMatchObject({ name: 'a', list: { length: 50_000 } })
  })
})

describe('the levels of a body', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  it('may be 1,000, and no more', () => {
    const parse = (text: string) => parseJson(new TextEncoder().encode(text), 20_000)
    expect(parse(`${'['.repeat(999)}[[],[]]${']'.repeat(999)}`.slice(1, -1))).toBeDefined()
    expect(JSON.stringify(parse(deep(1000)))).toBe(deep(1000))
    expect(() => parse(deep(1001))).toThrow('Request body is not valid JSON.')
  })

  it('in a field of a form are counted too', async () => {
    const s = doors({})
    for (const value of [deep(5000), new Blob([deep(5000)], { type: 'application/json' })]) {
      const body = new FormData()
      body.append('any', value)
      const answer = await s.send('POST', '/forms', { body })
      expect([answer.status, answer.body.error]).toEqual([400, "Field 'any' is nested too deeply."])
    }
  })
})

/**
 * A refusal is of a bounded size, and made in bounded time, however much is wrong.
 */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRouter, defineModel, ValidationError } from '../../src/index.ts'
import { service } from '../records/service.ts'

const numbers = z.array(z.number())

const Wrong = defineModel('MessagesWrong', {
  fields: {
    tags: z.array(z.string()).optional(),
    few: z.array(z.string()).max(10).optional(),
    rows: z.array(z.object({ a: z.string(), b: z.array(z.string()) })).optional(),
    lists: z.array(z.array(z.string())).optional(),
    map: z.record(z.string(), z.string()).optional(),
    maps: z.record(z.string(), numbers).optional(),
    nested: z.object({ inside: z.object({ tags: z.array(z.string()) }) }).optional(),
    pair: z.tuple([z.string()]).rest(z.string()).optional(),
    either: z.union([z.array(z.string()), z.string()]).optional(),
    both: z.intersection(z.looseObject({ a: numbers }), z.record(z.string(), numbers)).optional(),
    strict: z.strictObject({ a: z.number().optional() }).optional(),
    told: numbers
      .superRefine((list, context) => {
        for (const index of list.keys()) {
          context.addIssue({ code: 'custom', path: [index], message: 'No.' })
        }
      })
      .optional(),
    unlike: z
      .array(z.string().min(3))
      .refine((list) => new Set(list.map((text) => text.toLowerCase())).size === list.length)
      .optional(),
  },
})

function wrong() {
  const s = service()
  s.app.mount(
    '/wrong',
    createRouter({
      model: Wrong,
      middlewares: [],
      allowedFields: Object.keys(Wrong.fields) as never,
    }),
  )
  s.app.mount(
    '/hooked',
    createRouter({
      model: Wrong,
      middlewares: [],
      allowedFields: ['tags'],
      validate: () => {
        const many = Array.from({ length: 5000 }, (_, at) => [`tags.${at}`, 'No.'] as const)
        throw new ValidationError('Check the submitted values.', Object.fromEntries(many))
      },
    }),
  )
  return s
}

const list = (count: number, item: string): string => `[${Array(count).fill(item).join(',')}]`
const map = (count: number, item: string): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${item}`).join(',')}}`
const long = 'k'.repeat(100_000)

/** Nearly as many values as a body may have. */
const bodies: Readonly<Record<string, string>> = {
  'wrong elements': `{"tags":${list(19_990, '1')}}`,
  'elements that break a rule': `{"unlike":${list(19_990, '"a"')}}`,
  'wrong elements of a list that is too long': `{"few":${list(19_990, '1')}}`,
  'wrong objects in a list': `{"rows":${list(3900, '{"a":1,"b":[]}')}}`,
  'empty objects in a list': `{"rows":${list(19_990, '{}')}}`,
  'wrong lists in objects in a list': `{"rows":${list(30, `{"a":"a","b":${list(650, '1')}}`)}}`,
  'wrong lists in a list': `{"lists":${list(9990, '[1]')}}`,
  'wrong members of a map': `{"map":${map(9990, '1')}}`,
  'wrong lists in a map': `{"maps":${map(100, list(190, '"a"'))}}`,
  'a wrong list in objects': `{"nested":{"inside":{"tags":${list(19_990, '1')}}}}`,
  'the wrong rest of a tuple': `{"pair":["a",${list(19_990, '1').slice(1)}}`,
  'a list that is none of a union': `{"either":${list(19_990, '1')}}`,
  'a list in both sides of an intersection': `{"both":{"a":${list(19_990, '"x"')}}}`,
  'unknown keys': `{"strict":${map(9990, '1')}}`,
  'a rule that complains of each element': `{"told":${list(19_990, '1')}}`,
  'a long key': `{"maps":{"${long}":${list(1000, '"a"')}}}`,
}

const headers = { 'content-type': 'application/json' }

describe('a body with many mistakes', () => {
  it.each(Object.entries(bodies))('of %s is a 400 with at most 100 messages', async (_, body) => {
    const s = wrong()
    const { record } = await s.send('POST', '/wrong', { json: { tags: [] } })
    for (const [method, path] of [
      ['POST', '/wrong'],
      ['PATCH', `/wrong/${record._id}`],
    ] as const) {
      const answer = await s.send(method, path, { body, headers })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toBe('Check the submitted values.')
      const fields = Object.entries(answer.body.fields ?? {})
      expect(fields.length).toBeGreaterThan(0)
      expect(fields.length).toBeLessThanOrEqual(100)
      expect(answer.text.length).toBeLessThan(120_000)
    }
  })

  it('names the first mistakes, each by its path', async () => {
    const s = wrong()
    const body = `{"tags":["a",${list(1900, '1').slice(1)}}`
    const {
      body: { fields = {} },
    } = await s.send('POST', '/wrong', { body, headers })
    const paths = Array.from({ length: 100 }, (_, at) => `tags.${at + 1}`)
    expect(Object.keys(fields)).toEqual(paths)
  })

  it('of more than 2,000 values may end at the first of them', async () => {
    const s = wrong()
    const rows = [...Array(2998).fill({ a: 'a', b: [] }), {}, { a: 1 }]
    const { body } = await s.send('POST', '/wrong', { json: { rows } })
    expect(body.fields).toEqual({
      'rows.2998.a': 'Invalid input: expected string, received undefined',
    })
  })

  it('has at most 100 messages when a hook throws more', async () => {
    const s = wrong()
    const answer = await s.send('POST', '/hooked', { json: { tags: [] } })
    expect(Object.keys(answer.body.fields ?? {})).toHaveLength(100)
  })
})

describe('a large body without mistakes', () => {
  it.each([
    ['tags', Array(19_990).fill('a')],
    ['rows', Array(3300).fill({ a: 'a', b: ['b'] })],
    ['lists', Array(9990).fill(['a'])],
    ['maps', Object.fromEntries(Array.from({ length: 6600 }, (_, at) => [`k${at}`, [at]]))],
    ['pair', Array(19_990).fill('a')],
    ['either', Array(19_990).fill('a')],
  ])('in %s is stored as it was sent', async (field, value) => {
    const s = wrong()
    const { record } = await s.send('POST', '/wrong', { json: { [field]: value } })
    expect(record[field]).toEqual(value)
    const read = await s.send('GET', `/wrong/${record._id}`)
    expect(read.record[field]).toEqual(value)
  })
})

/**
 * A refusal is of a bounded size, and made in bounded time, however much is wrong.
 */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createRouter, defineModel, ValidationError } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { processorClock } from './processor-time.ts'

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

const times = (count: number, item: string): string => Array(count).fill(item).join(',')
const many = (count: number, item: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join(',')
const long = 'k'.repeat(100_000)

const bodies: Readonly<Record<string, string>> = {
  'wrong elements, 130,000': `{"tags":[${times(130_000, '1')}]}`,
  'wrong elements, 500,000': `{"tags":[${times(500_000, '1')}]}`,
  'wrong elements of a list that is too long': `{"few":[${times(500_000, '1')}]}`,
  'wrong objects in a list': `{"rows":[${times(60_000, '{"a":1,"b":[]}')}]}`,
  'wrong lists in objects in a list': `{"rows":[${times(30, `{"a":"a","b":[${times(10_000, '1')}]}`)}]}`,
  'wrong lists in a list': `{"lists":[${times(150_000, '[1]')}]}`,
  'wrong members of a map': `{"map":{${many(9000, (at) => `"k${at}":1`)}}}`,
  'wrong lists in a map': `{"maps":{${many(100, (at) => `"k${at}":[${times(2000, '"a"')}]`)}}}`,
  'a wrong list in objects': `{"nested":{"inside":{"tags":[${times(300_000, '1')}]}}}`,
  'the wrong rest of a tuple': `{"pair":["a",${times(300_000, '1')}]}`,
  'a list that is none of a union': `{"either":[${times(300_000, '1')}]}`,
  'a list in both sides of an intersection': `{"both":{"a":[${times(200_000, '"x"')}]}}`,
  'unknown keys': `{"strict":{${many(9000, (at) => `"k${at}":1`)}}}`,
  'a rule that complains of each element': `{"told":[${times(300_000, '1')}]}`,
  'a rule on a list whose elements break theirs': `{"unlike":[${times(150_000, '"a"')}]}`,
  'a long key': `{"maps":{"${long}":[${times(1000, '"a"')}]}}`,
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
      const passed = processorClock()
      const answer = await s.send(method, path, { body, headers })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toBe('Check the submitted values.')
      const fields = Object.entries(answer.body.fields ?? {})
      expect(fields.length).toBeGreaterThan(0)
      expect(fields.length).toBeLessThanOrEqual(100)
      expect(answer.text.length).toBeLessThan(120_000)
      expect(passed()).toBeLessThan(3000)
    }
  })

  it('names the first mistakes, each by its path', async () => {
    const s = wrong()
    const body = `{"tags":["a",${times(2000, '1')}]}`
    const {
      body: { fields = {} },
    } = await s.send('POST', '/wrong', { body, headers })
    const paths = Array.from({ length: 100 }, (_, at) => `tags.${at + 1}`)
    expect(Object.keys(fields)).toEqual(paths)
  })

  it('has at most 100 messages when a hook throws more', async () => {
    const s = wrong()
    const answer = await s.send('POST', '/hooked', { json: { tags: [] } })
    expect(Object.keys(answer.body.fields ?? {})).toHaveLength(100)
  })
})

describe('a large body without mistakes', () => {
  it.each([
    ['tags', Array(100_000).fill('a')],
    ['rows', Array(20_000).fill({ a: 'a', b: ['b'] })],
    ['lists', Array(50_000).fill(['a'])],
    ['maps', Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`k${at}`, [at]]))],
    ['pair', Array(100_000).fill('a')],
    ['either', Array(100_000).fill('a')],
  ])('in %s is stored as it was sent', async (field, value) => {
    const s = wrong()
    const { record } = await s.send('POST', '/wrong', { json: { [field]: value } })
    expect(record[field]).toEqual(value)
    const read = await s.send('GET', `/wrong/${record._id}`)
    expect(read.record[field]).toEqual(value)
  })
})

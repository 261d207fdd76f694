/**
 * The limits of docs/limits.md, each at its exact value: what is at the limit is taken, one more is not. Those that take
 * long to reach have tests of their own beside this file.
 */

import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { createRouter, defineModel, type RouterOptions, ref } from '../../src/index.ts'
import { dateFrom, numberFrom } from '../../src/model/values/cast.ts'
import { type Message, service } from '../records/service.ts'
import { d1InMemory } from '../stores/d1/statements.ts'

/** Kinds whose error lists them all. */
const KINDS = Array.from({ length: 100 }, (_, at) => `kind number ${at}`)

const Sample = defineModel('ExactSample', {
  fields: {
    size: z.number().optional(),
    at: z.date().optional(),
    dates: z.array(z.date()).optional(),
    tags: z.array(z.string()).optional(),
    lines: z.record(z.string(), z.string()).optional(),
    kind: z.enum(KINDS).optional(),
  },
})

function samples(options: Partial<RouterOptions<never>> = {}) {
  const served = service()
  served.app.mount(
    '/samples',
    createRouter({
      model: Sample,
      middlewares: [],
      allowedFields: ['size', 'at', 'dates', 'tags', 'lines', 'kind'],
      query: ['size', 'at'],
      ...(options as object),
    }),
  )
  return served
}

/** A number and a date as long as they may be, written with zeros that change nothing. */
const number = (length: number) => `0.${'0'.repeat(length - 3)}1`
const date = (length: number) => `2026-11-26T10:00:00.${'0'.repeat(length - 21)}Z`

describe('numbers and dates in strings', () => {
  it.each([
    ['a number has at most 400 characters', 400, number, numberFrom],
    ['a date has at most 64 characters', 64, date, dateFrom],
  ])('%s', (_, most, text, read) => {
    expect(text(most)).toHaveLength(most)
    expect(read(text(most))).toBeDefined()
    expect(read(text(most + 1))).toBeUndefined()
  })

  const beyond: readonly (readonly [string, string, Message, string])[] = [
    ['GET', `/samples?size=${number(401)}`, {}, 'Invalid value for size.'],
    ['GET', `/samples?at=${date(65)}`, {}, 'Invalid value for at.'],
    ['POST', '/samples', { json: { size: number(401) } }, 'Check the submitted values.'],
    ['POST', '/samples', { json: { at: date(65) } }, 'Check the submitted values.'],
  ]
  it.each(beyond)('beyond it, %s gives the error for that value, case %#', async (...sent) => {
    const [method, path, message, error] = sent
    const { status, body } = await samples().send(method, path, message)
    expect([status, body.error]).toEqual([400, error])
  })
})

describe('a record', () => {
  it('refers to at most 1,000 records with onDelete', async () => {
    const City = defineModel('ExactCity', { fields: { name: z.string() } })
    const Trip = defineModel('ExactTrip', {
      fields: { cities: z.array(ref('ExactCity', { onDelete: 'unset' })) },
    })
    const { app, send } = service()
    app.mount('/trips', createRouter({ model: Trip, allowedFields: ['cities'], middlewares: [] }))
    const stored = app.store.collection(City)
    const cities: string[] = []
    for (let at = 0; at < 1001; at += 1) cities.push((await stored.insert({ name: 'a' }))._id)
    const refused = await send('POST', '/trips', { json: { cities } })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'The entry refers to more than 1000 entries.',
    ])
    const taken = await send('POST', '/trips', { json: { cities: cities.slice(1) } })
    expect(taken.status).toBe(201)
  })
})

describe('the messages of one error', () => {
  it('have at most 500 characters, their paths at most 200', async () => {
    const { send } = samples()
    const json = { kind: 'x', lines: { ['k'.repeat(2000)]: 1 } }
    const { body } = await send('POST', '/samples', { json })
    const { kind = '', ...others } = body.fields ?? {}
    expect(kind).toHaveLength(500)
    expect(Object.keys(others).map(({ length }) => length)).toEqual([200])
  })
})

describe('a list on D1', () => {
  it('takes every operator on 100 fields, and a few more', async () => {
    const names = Array.from({ length: 130 }, (_, at) => `measurement${at}`)
    const model = defineModel('ExactMeasured', {
      fields: Object.fromEntries(names.map((name) => [name, z.number().optional()])),
    })
    const { app, send } = service({ store: d1Store(d1InMemory()) })
    app.mount(
      '/measured',
      createRouter({ model, middlewares: [], allowedFields: [], filterableFields: names as never }),
    )
    const every = { ne: 5, gt: 0, gte: 1, lt: 2, lte: 1, in: [1, 2], nin: [3, 4], eq: 1 }
    const asked = async (count: number) => {
      const filter = Object.fromEntries(names.slice(0, count).map((name) => [name, every]))
      return (await send('QUERY', '/measured', { json: { filter } })).status
    }
    expect([await asked(100), await asked(130)]).toEqual([200, 400])
  })
})

describe('the time of a request', () => {
  it('is 60 s by default, and then it is a 503 with Retry-After', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { app, send } = samples({ middlewares: [() => new Promise<never>(() => {})] } as never)
      await app.ready()
      let answered: number | undefined
      const answer = send('GET', '/samples')
      void answer.then(({ status }) => {
        answered = status
      })
      await vi.advanceTimersByTimeAsync(59_900)
      expect(answered).toBeUndefined()
      await vi.advanceTimersByTimeAsync(200)
      const { status, headers } = await answer
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('the requests in flight', () => {
  it('are at most 1,000 by default; the next one is a 503 with Retry-After', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { app, send } = samples({ middlewares: [() => promise] } as never)
    await app.ready()
    const running = Array.from({ length: 1000 }, () => send('GET', '/samples'))
    const { status, headers } = await send('GET', '/samples')
    resolve()
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(new Set((await Promise.all(running)).map((each) => each.status))).toEqual(new Set([200]))
  })
})

describe('the bytes of a response to a read', () => {
  it('are at most 32 MiB by default', async () => {
    const { app, send } = samples({ maxLimit: 40 } as never)
    const stored = app.store.collection(Sample)
    // 33 records of a little more than a mebibyte do not fit, 31 do.
    for (let at = 0; at < 33; at += 1) await stored.insert({ tags: ['x'.repeat(1 << 20)] })
    const refused = await send('GET', '/samples?page=1&pageSize=32')
    expect([refused.status, refused.body.error]).toEqual([
      413,
      'Response is too large. Ask for fewer records.',
    ])
    expect((await send('GET', '/samples?page=1&pageSize=31')).status).toBe(200)
  })
})

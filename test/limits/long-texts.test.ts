/**
 * A text as long as a body or a URL may be is refused in time that grows with its length, not with the square of it.
 */

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { newPassword } from '../../src/auth/accounts/credentials.ts'
import { normalizers } from '../../src/auth/setup/identifiers.ts'
import { createRouter, defineModel, type RouterOptions } from '../../src/index.ts'
import { dateFrom, numberFrom } from '../../src/model/values/cast.ts'
import { type Message, service } from '../records/service.ts'
import { processorClock } from './processor-time.ts'

const digits = `${'1'.repeat(100_000)}x`
/** The old expression took 30 s for these digits. */
const SOON_MS = 1000

async function timed<T>(work: () => T | Promise<T>): Promise<T> {
  const passed = processorClock()
  const result = await work()
  expect(passed()).toBeLessThan(SOON_MS)
  return result
}

const Thing = defineModel('LongTextThing', {
  fields: { size: z.number(), at: z.date().optional(), tags: z.array(z.number()).optional() },
})

function things(options: Partial<RouterOptions<never>> = {}) {
  const s = service()
  s.app.mount(
    '/things',
    createRouter({
      model: Thing,
      middlewares: [],
      allowedFields: ['size', 'at', 'tags'],
      query: ['size', 'at', 'tags'],
      ...(options as object),
    }),
  )
  return s
}

describe('a number or date of 100,000 digits', () => {
  const cases: readonly (readonly [string, string, Message, number])[] = [
    ['GET', `/things?page=${digits}`, {}, 200],
    ['GET', `/things?page=1&pageSize=${digits}`, {}, 200],
    ['GET', `/things?size=${digits}`, {}, 400],
    ['GET', `/things?at=${digits}`, {}, 400],
    ['GET', `/things?rangeField=size&range=${digits}-1`, {}, 400],
    ['GET', `/things?rangeField=at&range=${digits}..${digits}`, {}, 400],
    ['GET', `/things?compareField=size&compareValue=${digits}`, {}, 400],
    ['QUERY', '/things', { json: { filter: { size: digits } } }, 400],
    ['QUERY', '/things', { json: { filter: { at: { gte: digits } } } }, 400],
    ['POST', '/things', { json: { size: digits } }, 400],
    ['POST', '/things', { json: { size: 1, at: digits } }, 400],
    ['POST', '/things', { json: { size: 1, at: `2024-01-01T00:00:00.${digits}` } }, 400],
    ['POST', '/things', { json: { size: 1, tags: [digits] } }, 400],
  ]
  it.each(cases)('%s is answered at once, case %#', async (method, path, message, status) => {
    const s = things()
    const answer = await timed(() => s.send(method, path, message))
    expect(answer.status).toBe(status)
  })

  it('is answered at once in a PATCH', async () => {
    const s = things()
    const { record } = await s.send('POST', '/things', { json: { size: 1 } })
    const path = `/things/${record._id}`
    const answer = await timed(() => s.send('PATCH', path, { json: { size: digits } }))
    expect(answer.status).toBe(400)
  })
})

describe('numbers and dates from texts', () => {
  it('take what a number needs, and no more', () => {
    expect(numberFrom(`1${'0'.repeat(308)}`)).toBe(1e308)
    expect(numberFrom(`0.${'0'.repeat(323)}5`)).toBe(5e-324)
    expect(numberFrom('1.')).toBe(1)
    expect(numberFrom('.5e+1')).toBe(5)
    expect(numberFrom('0'.repeat(401))).toBeUndefined()
  })

  it('take what a date needs, and no more', () => {
    expect(dateFrom('2024-02-29T23:59:59.123456789+05:30')?.getTime()).toBe(1709231399123)
    expect(dateFrom('1709231399123')?.getTime()).toBe(1709231399123)
    expect(dateFrom(`2024-02-29T23:59:59.${'0'.repeat(60)}Z`)).toBeUndefined()
  })
})

describe('identifiers and passwords', () => {
  // NFC sorts a run of combining marks by insertion.
  const marks = `a@b.${'\u0315\u0300'.repeat(50_000)}`

  it.each(Object.entries(normalizers))(
    'an identifier of kind %s has a longest length',
    async (_, normalize) => {
      expect(await timed(() => normalize(marks))).toBeUndefined()
      expect(normalize(`1@b.cd`.padEnd(1025, 'd'))).toBeUndefined()
    },
  )

  it('a new password is measured, not taken apart', async () => {
    const refused = () => newPassword('x'.repeat(1_000_000), 'password', 8)
    await timed(() => expect(refused).toThrow('Password must be at most 1024 bytes.'))
    expect(() => newPassword('💥'.repeat(7), 'password', 8)).toThrow('at least 8 characters')
    expect(newPassword('💥'.repeat(8), 'password', 8)).toHaveLength(16)
  })
})

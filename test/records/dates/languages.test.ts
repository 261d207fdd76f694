/** Dates as other languages print them by default, in bodies, in QUERY filters and in URLs that are encoded or not. */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Task = defineModel('TaskOfLanguages', { fields: { due: z.date() } })

function tasks() {
  const { app, send } = service()
  const due = ['due'] as const
  const lists = { query: due, filterableFields: due, sortableFields: due }
  app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: due, ...lists }))
  return send
}

const NINE = '2026-01-02T09:00:00.000Z'
const FRACTION = '2026-01-02T09:00:00.123Z'

const PRINTED: readonly (readonly [string, printed: string, is: string])[] = [
  ["Python's isoformat", '2026-01-02T09:00:00.123456+00:00', FRACTION],
  ["Python's str", '2026-01-02 10:00:00.123456+01:00', FRACTION],
  ["Go's time.Time", '2026-01-02T10:00:00.123456789+01:00', FRACTION],
  ["Java's Instant", '2026-01-02T09:00:00.123456789Z', FRACTION],
  ["Java's OffsetDateTime", '2026-01-02T10:00+01:00', NINE],
  ["Java's ZonedDateTime", '2026-01-02T10:00:00.123456789+01:00[Europe/Zurich]', FRACTION],
  ["Java's ZonedDateTime in UTC", '2026-01-02T09:00Z[Etc/UTC]', NINE],
  ['.NET', '2026-01-02T10:00:00.1234567+01:00', FRACTION],
  ["PHP's DATE_ATOM", '2026-01-02T10:00:00+01:00', NINE],
  ["PHP's DATE_ISO8601", '2026-01-02T10:00:00+0100', NINE],
  ["Ruby's Time", '2026-01-02 10:00:00 +0100', NINE],
  ["Ruby's Time in UTC", '2026-01-02 09:00:00 UTC', NINE],
  ["PostgreSQL's timestamptz", '2026-01-02 10:00:00.123456+01', FRACTION],
  ["PostgreSQL's timestamptz, west", '2026-01-02 05:30:00-03:30', NINE],
]

describe('dates of other languages', () => {
  test.each(PRINTED)('%s', async (_, printed, is) => {
    const send = tasks()
    const { body, record } = await send('POST', '/tasks', { json: { due: printed } })
    expect(body).toMatchObject({ data: { due: is } })
    const found = { data: [{ _id: record._id }] }
    const asQuery = await send('QUERY', '/tasks', { json: { filter: { due: printed } } })
    expect(asQuery.body).toMatchObject(found)
    const encoded = encodeURIComponent(printed)
    // Libraries that join strings leave the `+` as it is, which is a space in a URL.
    for (const value of [encoded, encoded.replaceAll('%20', '+'), encoded.replace('%2B', '+')]) {
      expect((await send('GET', `/tasks?due=${value}`)).body).toMatchObject(found)
      const range = `rangeField=due&range=${value}..${value}`
      expect((await send('GET', `/tasks?${range}`)).body).toMatchObject(found)
    }
  })

  test.each([
    ['a zone without an offset', '2026-01-02T10:00:00[Europe/Zurich]'],
    ['an abbreviated zone', '2026-01-02 10:00:00 CET'],
    ["Go's String()", '2026-01-02 10:00:00.123456789 +0100 CET'],
    ['seconds of an offset', '2026-01-02T10:00:00+01:00:30'],
    ['an offset beyond the clock', '2026-01-02T10:00:00+99'],
    ['a day that does not exist', '2026-02-30T10:00:00 0100'],
    ["Python's time.time()", 1_767_344_400.123],
    ["Jackson's Instant", '1767344400.123456789'],
    ["Jackson's LocalDateTime", [2026, 1, 2, 10, 0]],
    ['HTTP', 'Fri, 02 Jan 2026 10:00:00 GMT'],
  ])('are refused: %s', async (_, due) => {
    const send = tasks()
    const { status, body } = await send('POST', '/tasks', { json: { due } })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      fields: {
        due: expect.stringContaining('expected date, received '),
      },
    })
    if (typeof due === 'object') return
    const asQuery = await send('QUERY', '/tasks', { json: { filter: { due } } })
    expect(asQuery.body).toMatchObject({ error: 'Invalid value for due.' })
  })

  test('a fraction of a millisecond is dropped', async () => {
    const { record } = await tasks()('POST', '/tasks', { json: { due: 1_767_344_400_123.75 } })
    expect(record.due).toBe('2026-01-02T09:00:00.123Z')
  })
})

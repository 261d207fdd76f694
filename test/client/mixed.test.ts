/** Conditions on fields that hold several types: what a URL finds is what QUERY finds, or no URL is sent. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createClient, type Result } from '../../src/client/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { calls } from './recording.ts'

const DAY = '2020-01-01'
const VALUES = [
  5,
  '5',
  -5,
  '05',
  '1e3',
  1000,
  true,
  'true',
  'null',
  '',
  ' ',
  DAY,
  '2020',
  2020,
  'a',
]

it.each([
  ['any', z.any()],
  ['string or number', z.union([z.string(), z.number()])],
  ['string, boolean or date', z.union([z.string(), z.boolean(), z.date()])],
  ['list', z.array(z.union([z.string(), z.number()]))],
])('a router without QUERY finds what QUERY finds, or refuses: %s', async (_, field) => {
  const model = defineModel('ClientMixed', { fields: { field: field.optional() } })
  const app = createApp({ store: sqliteStore() })
  const options = { model, middlewares: [], allowedFields: [], query: ['field'] } as const
  app
    .mount('/all', createRouter(options))
    .mount('/urls', createRouter({ ...options, enableQuery: false }))
  for (const value of [...VALUES, new Date(DAY)]) {
    await app.store
      .collection(model)
      .insert({ field: value as never })
      .catch(() => {})
    await app.store
      .collection(model)
      .insert({ field: [value] as never })
      .catch(() => {})
  }
  const client = createClient('http://localhost', {
    fetch: (...sent) => app.handle(new Request(...sent)),
  })
  const api = calls(client)
  let said = 0
  for (const value of [...VALUES, null]) {
    for (const condition of [
      value,
      { ne: value },
      { gte: value },
      { gte: value, lte: value },
      [value],
    ]) {
      const where = { field: condition }
      const found = (await api('/urls').list?.({ where })) as Result<unknown[]>
      if (!found.ok) {
        expect([400, 405]).toContain(found.error.status)
        continue
      }
      said += 1
      const asked = (await api('/all').list?.({ where })) as Result<unknown[]>
      expect([where, found.data]).toEqual([where, asked.ok && asked.data])
    }
  }
  expect(said).toBeGreaterThan(10)
})

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import { createRouter, defineModel, type Store } from '../../../src/index.ts'
import { d1InMemory } from '../../stores/d1/statements.ts'
import { type Service, service } from '../service.ts'

const TOO_LONG = 'The request is too long for the database. Send fewer conditions or fields.'

/** The names of `count` fields. */
const named = (count: number) => Array.from({ length: count }, (_, at) => `measurement${at}`)

/** A model with `count` numbers, and routers over it. */
function measured(count: number, store: Store = d1Store(d1InMemory())): Service {
  const names = named(count)
  const model = defineModel('Sample', {
    fields: Object.fromEntries(names.map((name) => [name, z.number().optional()])),
  })
  const router = {
    model,
    middlewares: [],
    allowedFields: names,
    filterableFields: names,
    sortableFields: names,
    aggregates: { of: names },
  }
  const tested = service({ store })
  tested.app
    .mount('/cursor', createRouter({ ...router, pagination: 'cursor', defaultPageSize: 1 }))
    .mount('/pages', createRouter(router))
    .mount('/uncounted', createRouter({ ...router, countStrategy: 'none' }))
    .mount('/batch', batch())
  return tested
}

/** Every operator on each of `count` fields, met by the number 1. */
function conditionsOn(count: number): object {
  const every = { ne: 5, gt: 0, gte: 1, lt: 2, lte: 1, in: [1, 2], nin: [3, 4], eq: 1 }
  return Object.fromEntries(named(count).map((name) => [name, every]))
}

const ones = (count: number) => Object.fromEntries(named(count).map((name) => [name, 1]))

describe('a QUERY with every operator on 20 fields and five sort keys, on D1', () => {
  it('is answered on each page', async () => {
    const { send } = measured(20)
    for (let at = 0; at < 3; at += 1) await send('POST', '/cursor', { json: ones(20) })
    const filter = conditionsOn(20)
    const sort = named(5)
    const found: unknown[] = []
    for (let cursor: unknown = null; ; ) {
      const { status, body, records } = await send('QUERY', '/cursor', {
        json: { filter, sort, cursor },
      })
      expect(status).toBe(200)
      found.push(...records.map(({ _id }) => _id))
      cursor = (body.pagination as { nextCursor?: unknown } | undefined)?.nextCursor
      if (!cursor) break
    }
    expect(new Set(found).size).toBe(3)
    expect(found).toHaveLength(3)
  })
})

describe('a request that is too long for D1', () => {
  it.each([
    ['the first page by cursor', '/cursor', {}],
    ['the first page', '/pages', { page: 1 }],
    ['a later page', '/pages', { page: 3 }],
    ['a page without totals', '/uncounted', { page: 2 }],
    ['a list without pages', '/pages', { limit: 1 }],
  ])('%s is a 400', async (_, path, page) => {
    const { send } = measured(200)
    const json = { filter: conditionsOn(200), sort: named(5), ...page }
    const { status, body } = await send('QUERY', path, { json })
    expect({ status, error: body.error }).toEqual({ status: 400, error: TOO_LONG })
  })

  it('a PATCH of too many fields is a 400 and changes nothing, alone and in a batch', async () => {
    const { send } = measured(4000)
    const { record } = await send('POST', '/pages', { json: ones(4000) })
    const path = `/pages/${record._id}`
    const json = Object.fromEntries(named(4000).map((name) => [name, 2]))
    const alone = await send('PATCH', path, { json })
    const operations = [{ method: 'PATCH', path, body: json }]
    const together = await send('POST', '/batch', { json: { operations } })
    for (const { status, body } of [alone, together]) {
      expect({ status, error: body.error }).toEqual({ status: 400, error: TOO_LONG })
    }
    expect((await send('GET', path)).record).toEqual(record)
    expect((await send('PATCH', path, { json: ones(1000) })).status).toBe(200)
  })
})

describe('an aggregate that has more values than a row of SQLite', () => {
  it('is a 400', async () => {
    const { send } = measured(501, sqliteStore())
    const all = named(501)
    const aggregate = { sum: all, avg: all, min: all, max: all }
    const { status, body } = await send('QUERY', '/pages', { json: { aggregate } })
    expect({ status, error: body.error }).toEqual({ status: 400, error: TOO_LONG })
  })
})

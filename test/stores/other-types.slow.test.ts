/**
 * Lists in the order of a field that has values of another type too, as an earlier model or another program has stored them:
 * pages and files have every record once, wherever one ends.
 */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { service } from '../records/service.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from './mongodb/databases.ts'
import { freshSchemas } from './postgres/schemas.ts'

const AT = new Date('2026-01-01T00:00:00.000Z')
/** Of each model, what is stored under its fields is of any type. */
const VALUES = [3, '3', null, '20', 20, AT, '2026', -1, true, 'a', 'a', AT, 3] as const
const RECORDS = 260

const Earlier = defineModel('EarlierTyped', { fields: { in: z.record(z.string(), z.any()) } })
const Typed = defineModel('Typed', {
  collection: Earlier.collection,
  fields: {
    in: z.object({
      size: z.number().nullish(),
      at: z.date().nullish(),
      name: z.string().nullish(),
    }),
  },
})
const PATHS = ['in.size', 'in.at', 'in.name'] as const

async function listsAll(store: Store): Promise<void> {
  const before = service({ store })
  const earlier = before.app.store.collection(Earlier)
  for (let at = 0; at < RECORDS; at += 1) {
    const of = (turn: number) => VALUES[(at * turn) % VALUES.length]
    await earlier.insert({ in: { size: of(1), at: of(2), name: of(3) } })
  }
  const { app, send } = service({ store })
  const options = { model: Typed, middlewares: [], sortableFields: PATHS, exportLimit: 1000 }
  app.mount('/pages', createRouter({ ...options, maxLimit: 1000 }))
  app.mount('/walk', createRouter({ ...options, pagination: 'cursor' }))
  for (const sort of PATHS.flatMap((path) => [path, `-${path}`])) {
    const ids = (list: readonly Fields[]) => list.map(({ _id }) => String(_id))
    const whole = ids((await send('GET', `/pages?sort=${sort}`)).records)
    expect(new Set(whole).size).toBe(RECORDS)
    const walked: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, records } = await send('GET', `/walk?sort=${sort}&pageSize=7&cursor=${cursor}`)
      walked.push(...ids(records))
      cursor = (body.pagination as { nextCursor: string | null }).nextCursor
    }
    expect(walked, sort).toEqual(whole)
    const headers = { accept: 'application/x-ndjson' }
    const { text } = await send('GET', `/pages?sort=${sort}`, { headers })
    const lines = text.split('\n').filter(Boolean)
    expect(ids(lines.map((line) => JSON.parse(line))), sort).toEqual(whole)
  }
  await store.close()
}

/** Only numbers are computed with, and only dates are the least or the greatest one, or have a month. */
async function aggregates(store: Store, values: readonly unknown[] = VALUES): Promise<void> {
  const before = service({ store })
  const earlier = before.app.store.collection(Earlier)
  for (const value of values) await earlier.insert({ in: { size: value, at: value, name: 'x' } })
  await earlier.insert({ in: { size: AT, at: null, name: null } })
  const { store: read } = service({ store }).app
  const typed = read.collection(Typed)
  const found = await typed.aggregate({
    ...{ by: ['in.name'], count: true, sum: ['in.size'], min: ['in.size'], max: ['in.size'] },
    sort: ['-max.in.size'],
  })
  const of = (value: unknown) => ({ 'in.size': value })
  expect(found).toEqual([
    { 'in.name': 'x', count: values.length, sum: of(25), min: of(-1), max: of(20) },
    { 'in.name': null, count: 1, sum: of(0), min: of(null), max: of(null) },
  ])
  const first = { 'in.at': AT }
  expect(await typed.aggregate({ max: ['in.at'] })).toEqual([{ max: first }])
  const both = { avg: ['in.size'], min: ['in.size', 'in.at'], max: ['in.at'] } as const
  const whole = [{ avg: of(6.25), min: { ...of(-1), ...first }, max: first }]
  expect(await typed.aggregate(both)).toEqual(whole)
  // In an atomic step that has written, records are read one by one.
  const inStep = await read.atomic(async (step) => {
    const records = step.collection(Typed)
    await records.insert({ in: {} })
    return records.aggregate(both)
  })
  expect(inStep).toEqual(whole)
  expect(await typed.aggregate({ count: true, by: ['in.at:month'] })).toEqual([
    { 'in.at:month': null, count: values.length },
    { 'in.at:month': '2026-01', count: 2 },
  ])
  await store.close()
}

it('SQLite', () => listsAll(sqliteStore()))
// Its indexes have true as 1.
const UNTOLD = VALUES.filter((value) => value !== true)
it('SQLite, aggregates', () => aggregates(sqliteStore(), UNTOLD))

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it('MongoDB', () => listsAll(mongoStore({ url, database: fresh() })))
  it('MongoDB, aggregates', () => aggregates(mongoStore({ url, database: fresh() })))
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it('PostgreSQL', () => listsAll(postgresStore({ url, schema: fresh() })))
  it('PostgreSQL, aggregates', () => aggregates(postgresStore({ url, schema: fresh() })))
})

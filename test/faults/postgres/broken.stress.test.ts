import connectTo from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { StoreTimeout } from '../../../src/ports/store/store-errors.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { notes } from '../mongodb/notes.ts'
import { killed } from './kills.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('a store whose connections are ended by the server goes on, and loses no acknowledged write', async () => {
    const { lost, refused, slowest } = await killed(url, fresh(), runs(5))
    expect(lost).toBe(0)
    expect(refused).toBeGreaterThan(0)
    expect(slowest).toBeLessThan(6)
  }, 180_000)

  describe('a column whose type another program changes', { timeout: 120_000 }, () => {
    const schema = fresh()
    const address = new URL(url)
    address.searchParams.set('application_name', schema)
    const store = postgresStore({ url: address.href, schema, max: 4 })
    const collection = store.collection(notes)
    const admin = connectTo(url, { max: 1 })
    const filter = { op: 'eq', field: 'n', value: 1 } as const
    const limited = { timeLimitMs: 10_000 }
    const together = (call: () => Promise<unknown>) => Promise.all(Array.from({ length: 8 }, call))

    beforeAll(async () => {
      await store.prepare([notes])
      await collection.insert({ _id: crypto.randomUUID(), n: 1 })
    })
    afterAll(async () => {
      await store.close()
      await admin.end()
    })

    it('a time limit ends the read on the server too', async () => {
      const states = () =>
        admin`SELECT 1 FROM pg_stat_activity WHERE application_name = ${schema} AND state <> 'idle'`
      const holder = connectTo(url, { max: 1 })
      await holder.begin(async (holding) => {
        await holding`LOCK TABLE ${holding(schema)}.notes`
        const reading = collection.count(filter, { timeLimitMs: 300 })
        await expect(reading).rejects.toThrow(StoreTimeout)
        await expect.poll(states).toEqual([])
      })
      await holder.end()
    })

    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      read: () => collection.count(filter),
      'read with a time limit': () => collection.count(filter, limited),
      write: () => collection.update(filter, { set: { n: 1 } }),
      transaction: async () =>
        store.write?.([{ update: filter, change: { set: { n: 1 } }, in: notes }]),
    }
    it.each(Object.entries(calls))('fails no %s', async (_, call) => {
      await together(call)
      for (const type of ['numeric', 'double precision']) {
        await admin`ALTER TABLE ${admin(schema)}.notes ALTER n TYPE ${admin.unsafe(type)}`
        await together(call)
      }
      const states =
        await admin`SELECT state FROM pg_stat_activity WHERE application_name = ${schema}`
      expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['idle']))
    })
  })
})

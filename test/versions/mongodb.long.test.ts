import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { people, person } from '../../extras/contract/store/people.ts'
import type { CollectionSchema } from '../../src/ports/store/store.ts'
import { type Database, type Served, serve, type Version } from '../changes/served.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { versions } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const database =
    (searchIndexes: boolean): Database =>
    async () => {
      const name = fresh()
      return () => mongoStore({ url, database: name, searchIndexes })
    }

  versions('MongoDB', database(false), { indexesSearches: false })
  versions('MongoDB with search indexes', database(true), { indexesSearches: true })

  describe('a unique field that differs between two versions, on MongoDB', () => {
    const client = new MongoClient(url)
    afterAll(() => client.close())

    it('of another type: each version keeps its own values unique, whichever starts last', async () => {
      const open = await database(false)()
      const options = { unique: ['code'] }
      const before: Version = { fields: { code: z.string() }, options }
      const after: Version = {
        fields: { code: z.number() },
        options: { ...options, convert: { code: Number } },
      }
      const older = serve(open, before)
      const newer = serve(open, after)
      expect((await older.call('POST', '/things', { code: '1' })).status).toBe(201)
      expect((await newer.call('POST', '/things', { code: 2 })).status).toBe(201)
      const refuse = async (codes: readonly unknown[], ...apps: Served[]) => {
        const answer = { status: 409, data: { error: 'Duplicate value for: code.' } }
        for (const [app, code] of apps.flatMap((app) =>
          codes.map((code) => [app, code] as const),
        )) {
          expect(await app.call('POST', '/things', { code })).toEqual(answer)
        }
      }
      await refuse(['1'], older, serve(open, before))
      await refuse([2], newer, serve(open, after))
      await refuse(['1'], older, serve(open, before))
      await refuse([2], newer)
      const left = { collection: 'things', what: "the unique index 'unique(code)'" }
      expect(await newer.backfill()).toMatchObject({ ok: true, dropped: [left] })
      await refuse([1, 2], newer, serve(open, after))
      expect(await newer.backfill()).toMatchObject({ dropped: [] })
    })

    it('that ignored case: it does until a backfill, which first makes an index that does not', async () => {
      const name = `versions-${crypto.randomUUID()}`
      const store = mongoStore({ client, database: name })
      onTestFinished(() =>
        client
          .db(name)
          .dropDatabase()
          .then(() => {}),
      )
      const collation = { locale: 'en', strength: 2 }
      const loose: CollectionSchema = { ...people, collations: [{ fields: ['email'], collation }] }
      await store.prepare([loose])
      const told: string[] = []
      await store.prepare([people], (message) => told.push(message))
      expect(told).toEqual([
        expect.stringContaining("still has the unique index 'unique(email)' of another version"),
      ])
      const records = store.collection(people)
      await records.insert(person({ email: 'a@x' }))
      const alike = person({ email: 'A@X' })
      await expect(records.insert(alike)).rejects.toMatchObject({ fields: ['email'] })
      const left = { collection: people.name, what: "the unique index 'unique(email)'" }
      expect(await store.dropLeftOvers?.([people])).toEqual([left])
      await records.insert(alike)
      const same = records.insert(person({ email: 'a@x' }))
      await expect(same).rejects.toMatchObject({ fields: ['email'] })
      await store.prepare([people], (message) => told.push(message))
      expect(told).toHaveLength(1)
      expect(await store.dropLeftOvers?.([people])).toEqual([])
    })

    it('a backfill leaves the indexes of the version that it is for, whatever its fields are called', async () => {
      const open = await database(false)()
      const text = z.string().optional()
      const version = (order: readonly string[]): Version => ({
        fields: { name: text, 2024: text, 7: text },
        options: { unique: [order], indexes: [order, ['name', '-7']] },
      })
      const now = version(['name', '2024'])
      const taken = { status: 409, data: { error: 'Duplicate value for: name, 2024.' } }
      const app = serve(open, now)
      expect((await app.call('POST', '/things', { name: 'a', 2024: 'b' })).status).toBe(201)
      const before = version(['2024', 'name'])
      const other = serve(open, before)
      await other.app.ready()
      const whats = (dropped: readonly { what: string }[]) => dropped.map(({ what }) => what)
      for (const run of [1, 2]) {
        const restarted = serve(open, now)
        const dropped = run === 1 ? ["the unique index 'unique(2024,name)'"] : []
        expect(whats((await restarted.backfill()).dropped)).toEqual(dropped)
        if (run === 2) expect(restarted.log.text).not.toContain('unique(')
        expect(await app.call('POST', '/things', { name: 'a', 2024: 'b' })).toEqual(taken)
      }
    })

    it('a backfill leaves the indexes of other programs', async () => {
      const name = `versions-${crypto.randomUUID()}`
      const store = mongoStore({ client, database: name, searchIndexes: true })
      onTestFinished(() =>
        client
          .db(name)
          .dropDatabase()
          .then(() => {}),
      )
      await store.prepare([people])
      const native = client.db(name).collection(people.name)
      await native.createIndex({ homes: 1 }, { unique: true, sparse: true })
      await native.createIndex({ score: -1, _id: 1 })
      const names = async () => (await native.indexes()).map((index) => index.name).sort()
      const before = await names()
      const less = { ...people, unique: [], indexes: [], searchable: [] }
      const dropped = await store.dropLeftOvers?.([less])
      expect(dropped?.map(({ what }) => what)).toEqual(
        people.unique.map((fields) => `the unique index 'unique(${fields.join(',')})'`),
      )
      expect(await names()).toEqual(before.filter((one) => !one?.startsWith('unique(')))
    })
  })
})

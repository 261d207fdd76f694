import { Decimal128, MongoClient, ObjectId } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withService } from '../services/shared.ts'
import { type Project, project } from './project.ts'

/** A shop whose prices another program has stored as decimals. */
const APP = `
import * as z from 'zod'
import { createApp, defineModel } from 'fieldgate'
import { mongoStore } from 'fieldgate/mongodb'

export const Price = defineModel('Price', { fields: { amount: z.number() } })
export const app = createApp({ store: mongoStore({ url: 'MONGODB_URL' }) })
app.store.collection(Price)
`

const WRANGLER = `
name = "shop"
main = "worker.ts"
compatibility_date = "2026-11-01"
[[d1_databases]]
binding = "DB"
database_name = "shop"
database_id = "00000000-0000-0000-0000-000000000000"
`

await withService('mongo', ({ url }) => {
  describe('fieldgate copy, if the target cannot hold what the source has', () => {
    const database = `copy-types-${crypto.randomUUID()}`
    const address = new URL(url)
    address.pathname = database
    const client = new MongoClient(url)
    const [_id, amount] = [new ObjectId(), Decimal128.fromString('0.1000000000000000055511')]
    let shop: Project
    beforeAll(async () => {
      await client.db(database).collection('prices').insertOne({ _id, amount })
      shop = await project({
        'app.ts': APP.replace('MONGODB_URL', address.href),
        'wrangler.toml': WRANGLER,
      })
    })
    afterAll(async () => {
      await client.db(database).dropDatabase()
      await client.close()
      await shop.remove()
    })
    const copy = (...args: string[]) =>
      shop.fieldgate('copy', './app.ts', '--to', 'sqlite:copy.db', ...args)

    it('prints what it would change, writes nothing, and ends with 1', async () => {
      const { code, out, err } = await copy()
      expect(code).toBe(1)
      expect(out).toMatch(/^collection +field +type +becomes +values +for example\n/)
      expect(out).toContain(`prices      amount  Decimal128  a rounded number  1       ${_id}\n`)
      expect(err).toContain('Nothing has been written.')
      expect(err).toContain('--convert')
    })

    it('is told as JSON', async () => {
      const { code, out } = await copy('--json')
      expect(code).toBe(1)
      const loss = { collection: 'prices', field: 'amount', type: 'Decimal128', count: 1 }
      expect(JSON.parse(out)).toMatchObject({
        ok: false,
        collections: [],
        lost: [{ ...loss, becomes: 'a rounded number', examples: [String(_id)] }],
        error: expect.stringContaining('Nothing has been written.'),
      })
    })

    it('copies it so with --convert, and says what it has changed', async () => {
      const { code, out, err } = await copy('--convert')
      expect(code).toBe(0)
      expect(out).toMatch(/^prices: 1 record, 1 copied now/)
      expect(err).toMatch(/^checking prices .*\ncollection +field/s)
    })

    it('is so for D1 too, from where the records come back as they are there', async () => {
      const toD1 = ['copy', './app.ts', '--to', 'd1:DB', '--json']
      const there = await shop.fieldgate(...toD1, '--convert')
      const { lost, collections } = JSON.parse(there.out)
      expect([there.code, lost.length, collections[0].target]).toEqual([0, 1, 1])
      const other = new URL(address)
      other.pathname = `${database}-back`
      const back = await shop.fieldgate('copy', './app.ts', '--from', 'd1:DB', '--to', other.href)
      expect(back.code).toBe(0)
      const returned = client.db(`${database}-back`)
      expect(await returned.collection('prices').findOne({})).toEqual({ _id, amount: 0.1 })
      await returned.dropDatabase()
    })

    it('is so for fieldgate-copy too', async () => {
      const args = ['--from', address.href, '--to', 'sqlite:other.db', '--models', './app.ts']
      const refused = await shop.fieldgateCopy(...args)
      expect([refused.code, /prices +amount +Decimal128/.test(refused.out)]).toEqual([1, true])
      expect(await shop.fieldgateCopy(...args, '--convert')).toMatchObject({ code: 0 })
    })
  })
})

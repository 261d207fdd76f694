/**
 * Lists in the order of numbers that another program has stored as Decimal128 or Long, of which JavaScript has fewer digits: pages
 * and files have every record once.
 */

import { Decimal128, Double, Long, MongoClient } from 'mongodb'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../../records/service.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

const Price = defineModel('Price', { fields: { in: z.object({ n: z.number().nullish() }) } })
const RECORDS = 260

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it.each([
    ['prices', (at: number) => Decimal128.fromString(['19.90', '0.1', '5'][at % 3] ?? '')],
    ['long fractions', (at: number) => Decimal128.fromString(`0.1234567890123456789${at % 3}`)],
    ['decimals among doubles', (at: number) => (at % 2 ? 0.1 : Decimal128.fromString('0.1'))],
    ['whole numbers', (at: number) => Long.fromBigInt(9007199254740993n + BigInt(at % 7))],
    [
      'all of them',
      (at: number) => [null, new Double(2), 0.5, Decimal128.fromString('0.7')][at % 4],
    ],
  ])('%s', async (_, valueAt) => {
    const database = fresh()
    const client = new MongoClient(url)
    const documents = Array.from({ length: RECORDS }, (_, at) => ({ in: { n: valueAt(at) } }))
    await client.db(database).collection('prices').insertMany(documents)
    await client.close()
    const { app, send } = service({ store: mongoStore({ url, database }) })
    const options = { model: Price, middlewares: [], sortableFields: ['in.n'] } as const
    app.mount('/pages', createRouter({ ...options, maxLimit: 1000, exportLimit: 1000 }))
    app.mount('/walk', createRouter({ ...options, pagination: 'cursor' }))
    for (const sort of ['in.n', '-in.n']) {
      const whole = (await send('GET', `/pages?sort=${sort}`)).records.map(({ _id }) => _id)
      expect(whole).toHaveLength(RECORDS)
      const walked: unknown[] = []
      for (let cursor: string | null = ''; cursor !== null && walked.length < 2 * RECORDS; ) {
        const { body, records } = await send(
          'GET',
          `/walk?sort=${sort}&pageSize=40&cursor=${cursor}`,
        )
        walked.push(...records.map(({ _id }) => _id))
        cursor = (body.pagination as { nextCursor: string | null }).nextCursor
      }
      expect(walked, sort).toEqual(whole)
      const headers = { accept: 'application/x-ndjson' }
      const { text } = await send('GET', `/pages?sort=${sort}`, { headers })
      const lines = text.split('\n').filter(Boolean)
      expect(
        lines.map((line) => JSON.parse(line)._id),
        sort,
      ).toEqual(whole)
    }
    await app.close()
  })
})

/**
 * Lists in the order of values that another program has stored otherwise: numbers as Decimal128 or Long, of which JavaScript has
 * fewer digits, references as strings, and ObjectIds and objects where the model has strings. Pages and files have every
 * record once.
 */

import { Decimal128, Double, Long, MongoClient, ObjectId, Timestamp, UUID } from 'mongodb'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { service } from '../../records/service.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

const inside = z.object({ n: z.number().nullish(), of: ref('Price').nullish(), name: z.string() })
const Price = defineModel('Price', { fields: { in: inside } })
const OWNERS = Array.from({ length: 5 }, () => new ObjectId())
const UUIDS = 'aaaaaaaa-0000-4000-8000-000000000000'
const RECORDS = 260

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it.each([
    ['prices', (at: number) => Decimal128.fromString(['19.90', '0.1', '5'][at % 3] ?? '')],
    ['long fractions', (at: number) => Decimal128.fromString(`0.1234567890123456789${at % 3}`)],
    ['decimals among doubles', (at: number) => (at % 2 ? 0.1 : Decimal128.fromString('0.1'))],
    ['whole numbers', (at: number) => Long.fromBigInt(9007199254740993n + BigInt(at % 7))],
    [
      'what is no number',
      (at: number) =>
        [Number.NaN, null, 1, Number.NEGATIVE_INFINITY, Decimal128.fromString('NaN'), -1][at % 6],
    ],
    [
      'all of them',
      (at: number) => [null, new Double(2), 0.5, Decimal128.fromString('0.7')][at % 4],
    ],
    [
      'names of other types',
      (at: number) => at % 3,
      (at: number) =>
        ['a', 7, OWNERS[0], OWNERS[1], new UUID(UUIDS), { a: at % 2 }, null, 'f'][at % 8],
    ],
    [
      'dates of other kinds, and patterns',
      (at: number) =>
        [3, new Timestamp({ t: at % 7, i: 1 }), new Date(at % 3), [/a/i, /b/][at % 2], null][
          at % 5
        ],
      (at: number) => ['a', /b/, new Timestamp({ t: 1, i: at % 3 }), true][at % 4],
    ],
  ])('%s', async (_, valueAt, nameAt: (at: number) => unknown = (at) => `${at % 4}`) => {
    const database = fresh()
    const client = new MongoClient(url)
    const documents = Array.from({ length: RECORDS }, (_, at) => {
      const owner = OWNERS[at % 5] as ObjectId
      return { in: { n: valueAt(at), of: at % 2 ? owner : owner.toHexString(), name: nameAt(at) } }
    })
    await client.db(database).collection('prices').insertMany(documents)
    await client.close()
    const { app, send } = service({ store: mongoStore({ url, database }) })
    const options = {
      model: Price,
      middlewares: [],
      sortableFields: ['in.n', 'in.of', 'in.name'],
      maxLimit: 1000,
    } as const
    app.mount('/pages', createRouter({ ...options, exportLimit: 1000 }))
    app.mount('/walk', createRouter({ ...options, pagination: 'cursor' }))
    const named = { ...options, sortableFields: ['in.n', 'in.name', 'in.of'] } as const
    app.mount('/names', createRouter(named))
    app.mount('/named', createRouter({ ...named, pagination: 'cursor' }))
    for (const sort of ['in.n', '-in.n', 'in.of', '-in.of', 'in.name', '-in.name']) {
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
    const sort = ['in.n', '-in.name', 'in.of']
    const { records } = await send('QUERY', '/names', { json: { sort } })
    const walked: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null && walked.length < 2 * RECORDS; ) {
      const { body, records } = await send('QUERY', '/named', {
        json: { sort, pageSize: 9, cursor },
      })
      walked.push(...records.map(({ _id }) => _id))
      cursor = (body.pagination as { nextCursor: string | null }).nextCursor
    }
    expect(walked).toEqual(records.map(({ _id }) => _id))
    await app.close()
  })
})

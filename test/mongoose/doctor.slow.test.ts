import { Binary, Decimal128, Long, MongoClient, ObjectId, UUID } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { checkRecords } from '../../src/check/check.ts'
import { examine } from '../../src/doctor/doctor.ts'
import type { Model } from '../../src/model/model.ts'
import { fromMongoose } from '../../src/mongoose/index.ts'
import { withService } from '../services/shared.ts'
import { mongoose, VERSIONS } from './installation.ts'

/** The part of Mongoose that is used here. */
interface Mongoose {
  readonly Schema: (new (
    fields: object,
  ) => Parameters<typeof fromMongoose>[0]) & {
    readonly Types: Readonly<Record<'Decimal128' | 'BigInt' | 'UUID', unknown>>
  }
}

const FIRST = -3

await withService('mongo', ({ url }) => {
  it.each(VERSIONS)('a model of %s has no problem with what Mongoose stores', async (version) => {
    const client = await MongoClient.connect(url)
    const database = `doctor-${crypto.randomUUID()}`
    onTestFinished(async () => {
      await client.db(database).dropDatabase()
      await client.close()
    })
    const { Schema } = await mongoose<Mongoose>(version)
    const { Types } = Schema
    const schema = new Schema({
      _id: Number,
      price: Types.Decimal128,
      views: Types.BigInt,
      code: Types.UUID,
      photo: Buffer,
      counts: { type: Map, of: Number },
      reviews: [{ by: String }],
    })
    const { model } = fromMongoose(schema, { name: 'Thing' })
    const things = client.db(database).collection('things')
    await things.insertMany(
      Array.from({ length: 2500 }, (_, at) => ({
        _id: (FIRST + at) as never,
        price: Decimal128.fromString('12345678901234567890.10'),
        views: Long.fromString('9007199254740993'),
        code: new UUID(),
        photo: new Binary(new Uint8Array(3)),
        counts: { a: 1 },
        reviews: [{ _id: new ObjectId(), by: 'x' }],
        more: 1,
      })),
    )
    const store = mongoStore({ client, database })
    const models = [model as unknown as Model]
    const patient = { database: store, models, identifiers: new Map() }
    const { problems, notes } = await examine(patient, { start() {}, advance() {} })
    const undeclared = { problem: 'undeclared', field: 'more', count: 2500 }
    expect(problems).toMatchObject([{ ...undeclared, examples: ['-3', '-2', '-1'] }])
    expect(notes).toEqual([])
    expect((await checkRecords(store, models)).problems).toMatchObject([undeclared])
  })
})

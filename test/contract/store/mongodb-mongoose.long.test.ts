import {
  Binary,
  Decimal128,
  type Document,
  Double,
  Long,
  MinKey,
  MongoClient,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Shape } from '../../../src/ports/store/shape.ts'
import type { Collection } from '../../../src/ports/store/store.ts'
import { withService } from '../../services/shared.ts'

const byName = { op: 'eq', field: 'name', value: 'Ada' } as const

await withService('mongo', ({ url }) => {
  const database = `mongoose-${crypto.randomUUID()}`
  const client = new MongoClient(url)
  const native = client.db(database).collection('people')
  const store = mongoStore({ client, database })
  afterAll(async () => {
    await client.db(database).dropDatabase()
    await store.close()
    await client.close()
  })

  describe('a collection that Mongoose wrote', () => {
    let collection: Collection
    const [_id, friend, session] = [newId(), newId(), newId()]

    beforeEach(async () => {
      await native.drop()
      await native.insertOne({
        _id: new ObjectId(_id),
        friend: new ObjectId(friend),
        name: 'Ada',
        email: 'ada@example.org',
        born: new Date(5),
        sessions: [{ id: 's', n: 1, _id: new ObjectId(session) }],
        __v: 3,
      })
      collection = store.collection(people)
    })

    it('is read with ids as strings and without its version key', async () => {
      expect(await collection.find({ filter: everything, sort: [], limit: 9 })).toEqual([
        {
          _id,
          friend,
          name: 'Ada',
          email: 'ada@example.org',
          born: new Date(5),
          sessions: [{ id: 's', n: 1, _id: session }],
        },
      ])
      expect(await collection.count({ op: 'eq', field: 'friend', value: friend })).toBe(1)
    })

    it('is written as Mongoose would', async () => {
      const other = newId()
      await collection.insert({ _id: other, friend: _id, friends: [friend], born: new Date(6) })
      expect(await native.findOne({ _id: new ObjectId(other) })).toEqual({
        _id: new ObjectId(other),
        friend: new ObjectId(_id),
        friends: [new ObjectId(friend)],
        born: new Date(6),
      })
    })

    it('can be expected to hold what was read of it, ids of list entries too', async () => {
      const [record] = await collection.find({ filter: byName, sort: [], limit: 1 })
      const expect_ = { sessions: record?.sessions }
      const change = { push: { sessions: { value: { id: 't' } } } }
      const changed = await collection.update(byName, change, { expect: expect_ })
      expect(changed?.sessions).toEqual([{ id: 's', n: 1, _id: session }, { id: 't' }])
      const stored = await native.findOne({})
      expect(stored?.sessions[0]._id).toEqual(new ObjectId(session))
      expect(stored?.__v).toBe(3)
    })

    it('keeps all its indexes, and tells of those that the model has no use for', async () => {
      await native.createIndex({ email: 1 }, { unique: true })
      await native.createIndex({ slug: 1, tenant: 1 }, { unique: true, sparse: true })
      await native.createIndex({ score: -1, _id: 1 }, { name: 'mine' })
      await native.createIndex({ member: 1, name: -1 }, { sparse: true })
      await native.createIndex({ elsewhere: 1 })
      const before = (await native.indexes()).map(({ name }) => name)
      const warnings: string[] = []
      await store.prepare([people], (message) => warnings.push(message))
      const after = (await native.indexes()).map(({ name }) => name)
      expect(after.filter((name) => before.includes(name))).toEqual(before)
      expect(after).toEqual(expect.arrayContaining(['unique(email)', 'unique(tenant,slug)']))
      const clash = (name: string, fields: string) =>
        `MongoDB: the index '${name}' of '${people.name}' was not created by fieldgate. It refuses a second record without ${fields}, because it counts a missing value as a value. If nothing else needs it: db.${people.name}.dropIndex('${name}')`
      const slow = (name: string) =>
        `MongoDB: the index '${name}' of '${people.name}' is not one that the model declares. It slows down every write, and filters and sorts may still use it. If nothing else needs it: db.${people.name}.dropIndex('${name}')`
      expect(warnings.sort()).toEqual(
        [
          clash('email_1', 'email'),
          clash('slug_1_tenant_1', 'slug, tenant'),
          slow('member_1_name_-1'),
        ].sort(),
      )
      await collection.insert({ _id: newId(), name: 'B', tenant: 't', email: 'b@example.org' })
      const taken = collection.insert({ _id: newId(), name: 'D', email: 'ada@example.org' })
      await expect(taken).rejects.toMatchObject({ name: 'DuplicateKey', fields: ['email'] })
    })

    it('needs no second index where one of another name keeps the same values unique', async () => {
      await native.dropIndexes()
      const filter = { email: { $gte: '' } }
      await native.createIndex({ email: 1 }, { unique: true, partialFilterExpression: filter })
      const warnings: string[] = []
      await store.prepare([people], (message) => warnings.push(message))
      expect(warnings).toEqual([])
      expect(
        (await native.indexes()).filter(({ key }) => Object.keys(key)[0] === 'email'),
      ).toHaveLength(1)
    })
  })

  it('a unique field of another type than before stays unique', async () => {
    await native.drop()
    await store.prepare([people])
    const { fields } = people.shape
    const email = { kind: 'number' } as const
    const shape = {
      kind: 'object',
      fields: new Map<string, Shape>([...fields, ['email', email]]),
    } as const
    const schema = { ...people, shape }
    await store.prepare([schema])
    const collection = store.collection(schema)
    await collection.insert({ _id: newId(), email: 1 })
    await expect(collection.insert({ _id: newId(), email: 1 })).rejects.toThrow('email')
  })

  describe('values of types that no model declares', () => {
    it('are read as JSON values, and compare with nothing', async () => {
      await native.drop()
      const collection = store.collection(people)
      const uuid = new UUID()
      await native.insertMany([
        { name: 'Ada', age: Long.fromString('9007199254740993'), score: new Decimal128('1.5') },
        { name: 'B', age: 'old', born: 'yesterday', friend: 'me', tags: 'one', homes: 5 },
        { name: 'C', any: { uuid, bytes: new Binary(Buffer.from('hi')), least: new MinKey() } },
        { name: 'D', any: [/x/i, new Timestamp(1n), { $ref: 'a', $id: 1 }], email: 7 },
        { name: { first: 'E' }, tags: [['x']], address: 'here', sessions: {} },
      ])
      const records = await collection.find({ filter: everything, sort: [], limit: 9 })
      const shown = records.map(({ _id, ...fields }) => fields)
      expect(JSON.parse(JSON.stringify(shown))).toEqual([
        { name: 'Ada', age: 9007199254740992, score: 1.5 },
        { name: 'B', age: 'old', born: 'yesterday', friend: 'me', tags: 'one', homes: 5 },
        { name: 'C', any: { uuid: uuid.toString(), bytes: 'aGk=', least: null } },
        { name: 'D', any: ['/x/i', expect.anything(), { $ref: 'a', $id: 1 }], email: 7 },
        { name: { first: 'E' }, tags: [['x']], address: 'here', sessions: {} },
      ])
      for (const [field, value] of [
        ['born', new Date()],
        ['friend', newId()],
        ['homes.city', 'x'],
      ] as const) {
        expect(await collection.count({ op: 'lt', field, value })).toBe(0)
        expect(await collection.count({ op: 'ne', field, value })).toBe(5)
      }
    })

    const values: Record<string, unknown> = {
      'an ObjectId': new ObjectId(),
      'a UUID': new UUID(),
      'a Buffer': new Binary(Buffer.from('hi')),
      'a Decimal128': new Decimal128('1.10'),
      'a Long': Long.fromString('9007199254740993'),
      'a Double': new Double(7),
      'a regular expression': /x/i,
      'a Timestamp': new Timestamp(1n),
      'a Date': new Date(5),
      'a string like an ObjectId': newId(),
      NaN: Number.NaN,
      null: null,
    }
    const places: Record<string, (value: unknown) => Document> = {
      'in a mixed value': (value) => ({ any: { value } }),
      'in a list of mixed values': (value) => ({ any: [{ at: [value] }] }),
      'beside declared members': (value) => ({ address: { city: 'x', value } }),
      'in an object of a list': (value) => ({ homes: [{ city: 'x', value }] }),
      'in a string': (value) => ({ email: value }),
      'in a number': (value) => ({ age: value }),
      'in a date': (value) => ({ born: value }),
    }
    const cases = Object.keys(places).flatMap((place) =>
      Object.keys(values).map((value) => [value, place] as const),
    )

    it.each(cases)('%s %s can be expected to be what was read of it', async (value, place) => {
      await native.drop()
      const collection = store.collection(people)
      const [_id, stored] = [new ObjectId(), places[place]?.(values[value]) ?? {}]
      await native.insertOne({ _id, name: 'Ada', ...stored })
      const before = await native.findOne({ _id }, { raw: true })
      const [record] = await collection.find({ filter: byName, sort: [], limit: 1 })
      const { _id: id, ...fields } = record ?? {}
      expect(id).toBe(String(_id))
      const seen = { expect: fields }
      const same = { set: { name: 'Ada' } }
      expect(await collection.update(byName, same, seen)).toMatchObject({ _id: id })
      expect(await native.findOne({ _id }, { raw: true })).toEqual(before)
      const [field = ''] = Object.keys(stored)
      await native.updateOne({ _id }, { $set: { [field]: places[place]?.('changed')[field] } })
      expect(await collection.update(byName, same, seen)).toBeNull()
      expect(await collection.delete(byName, seen)).toBeNull()
      await native.replaceOne({ _id }, { name: 'Ada', ...stored })
      expect(await collection.delete(byName, seen)).toMatchObject({ _id: id })
    })

    it('a key that names a BSON type is only a key', async () => {
      await native.drop()
      const collection = store.collection(people)
      const any = { _bsontype: 'ObjectId', id: 'x', list: [{ _bsontype: 'Code', code: '1' }] }
      const _id = newId()
      await collection.insert({ _id, any })
      expect(await collection.find({ filter: everything, sort: [], limit: 1 })).toEqual([
        { _id, any },
      ])
      const same = { op: 'eq', field: '_id', value: _id } as const
      expect(await collection.update(same, { set: { any } }, { expect: { any } })).toEqual({
        _id,
        any,
      })
    })
  })

  it('a schema that the collection checks refuses a write with the names of the fields', async () => {
    await native.drop()
    const $jsonSchema = { required: ['name'], properties: { age: { minimum: 18 } } }
    const { collectionName } = native
    await client.db(database).createCollection(collectionName, { validator: { $jsonSchema } })
    const collection = store.collection(people)
    const refused = { name: 'RefusedWrite', rule: 'value' }
    const young = collection.insert({ _id: newId(), name: 'Ada', age: 17 })
    await expect(young).rejects.toMatchObject({ ...refused, fields: ['age'] })
    const nameless = collection.insert({ _id: newId(), age: 18 })
    await expect(nameless).rejects.toMatchObject({ ...refused, fields: ['name'] })
    await collection.insert({ _id: newId(), name: 'Ada', age: 18 })
    const younger = collection.update(byName, { set: { age: 1 } })
    await expect(younger).rejects.toMatchObject({ ...refused, fields: ['age'] })
  })

  it('closing the store leaves the client of the application open', async () => {
    const other = mongoStore({ client, database })
    await other.close()
    expect(await client.db(database).command({ ping: 1 })).toMatchObject({ ok: 1 })
  })
})

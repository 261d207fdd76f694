/**
 * Documents that Mongoose wrote, read through the HTTP API, sent back with PATCH and sent anew with POST, compared as BSON.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { BSON, type Document } from 'mongodb'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { createRouter } from '../../src/index.ts'
import { eachVersion, json } from './versions.ts'
import { zoo } from './zoo.ts'

/** A document as text that shows each BSON type, without what differs from document to document. */
function plain(raw: Buffer, times: object): [string, string][] {
  const left = new Set(['_id', '__v', ...Object.values(times)])
  const document = BSON.deserialize(raw, { promoteValues: false, promoteLongs: false })
  return Object.entries(document)
    .filter(([name]) => !left.has(name))
    .map(([name, value]) => [name, BSON.EJSON.stringify({ value }, { relaxed: false })])
}

eachVersion((place) => {
  const inhabitants = Object.entries(zoo(place.mongoose)).map(([name, one]) => {
    const kinds = place.connection.model(name, one.schema)
    const { model, report: rows } = fromMongoose(kinds)
    return { name, ...one, kinds, model, rows }
  })
  const app = place.app()
  for (const { name, model } of inhabitants) app.mount(`/${name}`, createRouter({ model }))
  before(() => app.ready())

  const stored = async (name: string, _id: unknown): Promise<Buffer> => {
    const native = place.native.collection(collectionOf(name))
    // The driver takes ids of its own version alone.
    const text = String(_id)
    const own = /^[0-9a-f]{24}$/.test(text) ? new BSON.ObjectId(text) : text
    const uuid = BSON.UUID.isValid(text) ? [new BSON.UUID(text)] : []
    const [found] = await native
      .find({ _id: { $in: [own, text, Number(text), ...uuid] } } as object, { raw: true })
      .toArray()
    return found as unknown as Buffer
  }
  const collectionOf = (name: string) =>
    inhabitants.find((one) => one.name === name)?.model.collection ?? ''

  for (const { name, documents, kinds, model, rows, ...one } of inhabitants) {
    /** What the server sets, whatever its type is. */
    const kept = { ...model.timestamps, own: 'createdAt', also: 'updatedAt' }
    describe(name, () => {
      it('is reported', () => {
        assert.deepEqual(
          rows.map(({ path, feature }) => `${path} ${feature}`),
          one.report ?? [],
        )
        assert.equal(model.collection, kinds.collection.name)
      })

      /** Makes a record of what was read of another: Mongoose finds it valid, and the same. */
      async function sendAnew(fields: object, before: Buffer): Promise<void> {
        const made = await json(app, 'POST', `/${name}`, fields)
        assert.equal(made.success, true, JSON.stringify(made))
        const { _id } = made.data as Document
        const copy = await stored(name, _id)
        assert.deepEqual(
          Object.fromEntries(plain(copy, kept)),
          Object.fromEntries(plain(before, kept)),
        )
        const again = await kinds.findById(_id)
        assert.ok(again)
        await again.validate()
        assert.deepEqual(again.modifiedPaths(), [])
      }

      for (const [at, document] of documents.entries()) {
        it(`document ${at} stays the same when it is sent back, and when it is sent anew`, async () => {
          const { _id } = await kinds.create(document)
          const before = await stored(name, _id)
          const { data } = await json(app, 'GET', `/${name}/${_id}`)
          const { _id: __, ...fields } = data as Document
          for (const time of Object.values(kept)) delete fields[time]
          const patched = await json(app, 'PATCH', `/${name}/${_id}`, fields)
          assert.equal(patched.success, true, JSON.stringify(patched))
          const afterwards = await stored(name, _id)
          assert.deepEqual(plain(afterwards, model.timestamps), plain(before, model.timestamps))
          if (Object.keys(model.timestamps).length === 0) {
            // A write of a list counts the version up.
            await kinds.updateOne({ _id }, { __v: 0 }, { timestamps: false })
            assert.deepEqual(await stored(name, _id), before)
          }
          await sendAnew(fields, before)
        })
      }
    })
  }
})

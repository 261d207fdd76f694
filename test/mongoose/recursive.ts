/**
 * Schemas that hold themselves.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { createApp, createRouter } from '../../src/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('a schema that holds itself', () => recursive(place))
})

function recursive({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose
  const thread = new Schema({ text: { type: String, required: true }, at: Date })
  thread.add({ replies: [thread] })
  const part = new Schema({ n: Schema.Types.Decimal128 })
  part.add({ inner: part })
  const Thread = connection.model('Thread', thread)
  const Machine = connection.model('Machine', new Schema({ part, spare: [part] }))
  const threads = fromMongoose(Thread)
  const machines = fromMongoose(Machine)
  const api = app()
    .mount('/threads', createRouter({ model: threads.model }))
    .mount('/machines', createRouter({ model: machines.model }))
  before(() => api.ready())

  it('is read to the end of what clients may write', async () => {
    assert.deepEqual([...threads.report, ...machines.report], [])
    const at = new Date('2020-01-01')
    const tree: object = {
      text: 'a',
      replies: [{ text: 'b', at, replies: [{ text: 'c', at, replies: [{ text: 'd' }] }] }],
    }
    const { _id } = await Thread.create(tree)
    const before = await Thread.findById(_id).lean()
    const { data } = await json(api, 'GET', `/threads/${_id}`)
    assert.equal(data.replies[0].replies[0].replies[0].text, 'd')
    const patched = await json(api, 'PATCH', `/threads/${_id}`, { replies: data.replies })
    assert.deepEqual(patched.data, data)
    const afterwards = await Thread.findById(_id).lean()
    assert.deepEqual({ ...afterwards, __v: 0 }, before)
  })

  it('is checked at every depth', async () => {
    const replies = [{ text: 'b', replies: [{ text: 'c', replies: [{}] }] }]
    const { fields } = await json(api, 'POST', '/threads', { text: 'a', replies })
    assert.deepEqual(Object.keys(fields), ['replies.0.replies.0.replies.0.text'])
  })

  it('may hold one of itself', async () => {
    const inner = { n: '1.50', inner: { n: '2.50', inner: null } }
    const { data } = await json(api, 'POST', '/machines', { part: inner, spare: [inner] })
    const read = await Machine.findById(data._id)
    assert.equal(String(read?.get('part.inner.n')), '2.50')
    assert.equal(data.spare[0].inner.n, '2.50')
  })

  it('hides at every depth what is not selected', async () => {
    const secret = new Schema({ text: String, secret: { type: String, select: false } })
    secret.add({ replies: [secret] })
    const Secret = connection.model('Secret', secret)
    const { model, report } = fromMongoose(Secret)
    assert.deepEqual(
      report.map(({ path, feature }) => `${path} ${feature}`),
      ['replies.replies select'],
    )
    const secrets = app().mount('/secrets', createRouter({ model }))
    const deep = { text: 'a', secret: 's', replies: [{ text: 'b', secret: 's' }] }
    const tree: object = { ...deep, replies: [{ ...deep, replies: [deep] }] }
    const { _id } = await Secret.create(tree)
    const { data } = await json(secrets, 'GET', `/secrets/${_id}`)
    assert.ok(!JSON.stringify(data).includes('secret'), JSON.stringify(data))
    assert.equal(data.replies[0].text, 'a')
  })

  it('is no more than others on other stores', async () => {
    const store = sqliteStore({ path: ':memory:' })
    const other = createApp({ store }).mount('/t', createRouter({ model: threads.model }))
    const replies = [{ text: 'b', replies: [{ text: 'c', at: '2020-01-01T00:00:00.000Z' }] }]
    const { data } = await json(other, 'POST', '/t', { text: 'a', replies })
    assert.equal(data.replies[0].replies[0].at, '2020-01-01T00:00:00.000Z')
    await other.close()
  })
}

/**
 * Mongoose and an app on one database at the same time.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { batch } from '../../src/batch/index.ts'
import { createRouter } from '../../src/index.ts'
import { eachVersion, json, type Place } from './versions.ts'

eachVersion((place) => {
  describe('versions of documents', () => {
    const made = versioned(place)
    versions(made)
    counted(made)
  })
  describe('places', () => places(place))
  describe('ids and kinds by a scope', () => scopes(place))
})

const reviews = [{ text: 'first' }, { text: 'second' }]

type Versions = ReturnType<typeof versioned>

/** Collections that Mongoose versions in several ways, and an API over them. */
function versioned({ mongoose, connection, native, app }: Place) {
  const { Schema } = mongoose
  const fields = {
    name: String,
    reviews: [new Schema({ text: String })],
    tags: [String],
    any: Schema.Types.Mixed,
    nested: { list: [Number], n: Number },
  }
  const kindOf = (name: string, options: object) =>
    connection.model(name, new Schema(fields, options))
  const kinds = [
    kindOf('Versioned', {}),
    kindOf('Counted', { versionKey: 'rev' }),
    kindOf('Watched', { optimisticConcurrency: true }),
    kindOf('Unversioned', { versionKey: false }),
  ] as const
  const api = app().mount('/batch', batch())
  for (const kind of kinds) {
    api.mount(`/${kind.modelName}`, createRouter({ model: fromMongoose(kind).model }))
  }
  const [Versioned, Counted, Watched, Unversioned] = kinds
  type Kind = (typeof kinds)[number]

  const versionOf = async ({ collection }: Kind, id: unknown, key = '__v'): Promise<unknown> => {
    const found = await native.collection(collection.name).find({}).toArray()
    return found.find(({ _id }) => String(_id) === String(id))?.[key]
  }
  const patch = (kind: Kind, id: unknown, body: object) =>
    json(api, 'PATCH', `/${kind.modelName}/${id}`, body)
  return { api, Versioned, Counted, Watched, Unversioned, versionOf, patch }
}

function versions({ api, Versioned, Counted, Watched, versionOf, patch }: Versions): void {
  before(() => api.ready())

  it('make Mongoose notice that a list has been written', async () => {
    for (const kind of [Versioned, Counted]) {
      const { _id } = await kind.create({ reviews })
      const loaded = await kind.findById(_id)
      const { data } = await json(api, 'GET', `/${kind.modelName}/${_id}`)
      const { success } = await patch(kind, _id, { reviews: [...data.reviews].reverse() })
      assert.equal(success, true)
      assert.ok(loaded?.reviews[0])
      loaded.reviews[0].text = 'edited'
      await assert.rejects(loaded.save(), { name: 'VersionError' })
      const [first] = (await kind.findById(_id))?.reviews ?? []
      assert.equal(first?.text, 'second')
    }
  })

  it('are noticed in documents that the app made', async () => {
    const { data } = await json(api, 'POST', '/Versioned', { reviews })
    const loaded = await Versioned.findById(data._id)
    await patch(Versioned, data._id, { reviews: [] })
    assert.ok(loaded?.reviews[0])
    loaded.reviews[0].text = 'edited'
    await assert.rejects(loaded.save(), { name: 'VersionError' })
  })

  it('count every write with optimisticConcurrency', async () => {
    const { _id } = await Watched.create({ name: 'a' })
    const loaded = await Watched.findById(_id)
    await patch(Watched, _id, { name: 'b' })
    assert.ok(loaded)
    loaded.name = 'c'
    await assert.rejects(loaded.save(), { name: 'VersionError' })
  })

  it('are in no response, and no client writes them, whatever their name', async () => {
    const { data } = await json(api, 'POST', '/Counted', { name: 'a', rev: 9 })
    assert.equal(await versionOf(Counted, data._id, 'rev'), 0)
    const patched = await patch(Counted, data._id, { name: 'b', rev: 9 })
    assert.equal(await versionOf(Counted, data._id, 'rev'), 0)
    const listed = await json(api, 'GET', '/Counted')
    for (const one of [data, patched.data, ...listed.data]) assert.ok(!('rev' in one))
  })
}

function counted({ api, Versioned, Unversioned, versionOf, patch }: Versions): void {
  it('count writes of lists, wherever they are, and no others', async () => {
    const { data } = await json(api, 'POST', '/Versioned', { name: 'a' })
    assert.equal(await versionOf(Versioned, data._id), 0)
    let expected = 0
    for (const [body, counts] of [
      [{ name: 'b' }, false],
      [{ any: { a: 1 } }, false],
      [{ any: { a: [1] } }, true],
      [{ tags: ['a'] }, true],
      [{ tags: null }, true],
      [{ nested: { n: 1 } }, true],
      [{ name: 'c', reviews }, true],
    ] as const) {
      const { success } = await patch(Versioned, data._id, body)
      assert.equal(success, true)
      if (counts) expected += 1
      assert.equal(await versionOf(Versioned, data._id), expected, JSON.stringify(body))
    }
  })

  it('count the writes of a batch, of app.store and of a condition', async () => {
    const { data, ...made } = await json(api, 'POST', '/Versioned', { tags: ['a'] })
    assert.ok(data, JSON.stringify(made))
    const path = `/Versioned/${data._id}`
    const operations = [
      { method: 'PATCH', path, body: { tags: ['b'] } },
      { method: 'POST', path: '/Versioned', body: { name: 'in a batch' } },
    ]
    const written = await json(api, 'POST', '/batch', { operations })
    assert.equal(written.success, true, JSON.stringify(written))
    assert.equal(await versionOf(Versioned, data._id), 1)
    const created = await Versioned.findOne({ name: 'in a batch' })
    assert.equal(created?.get('__v'), 0)
    const read = await api.handle(new Request(`http://zoo${path}`))
    const headers = {
      'Content-Type': 'application/json',
      'If-Match': read.headers.get('ETag') ?? '',
    }
    const init = { method: 'PATCH', headers, body: '{"tags":["c"]}' }
    assert.equal((await api.handle(new Request(`http://zoo${path}`, init))).status, 200)
    assert.equal(await versionOf(Versioned, data._id), 2)
    assert.equal((await api.handle(new Request(`http://zoo${path}`, init))).status, 412)
    assert.equal(await versionOf(Versioned, data._id), 2)
  })

  it('are not counted where the schema has none', async () => {
    const { data } = await json(api, 'POST', '/Unversioned', { tags: ['a'] })
    await patch(Unversioned, data._id, { tags: ['b'] })
    assert.equal(await versionOf(Unversioned, data._id), undefined)
  })
}

function places({ mongoose, connection, native, app }: Place): void {
  const { Schema } = mongoose
  const point = { type: { type: String }, coordinates: [Number] }
  const name = String
  const around = new Schema({ name, loc: point })
  around.index({ loc: '2dsphere' })
  const inside = new Schema({ name, a: { loc: point } })
  inside.index({ 'a.loc': '2dsphere', name: 1 })
  const indexed = { type: [Number], index: '2dsphere' }
  const own = new Schema({ name, loc: new Schema(point, { _id: false }) })
  own.index({ loc: '2dsphere' })
  const schemas = {
    Around: around,
    Inside: inside,
    Own: own,
    Coordinates: new Schema({ name, loc: { type: { type: String }, coordinates: indexed } }),
    Pair: new Schema({ name, loc: { type: [Number], index: '2d' } }),
    Plain: new Schema({ name, loc: point, deep: { er: { tags: [String] } } }),
  }
  const kinds = Object.entries(schemas).map(([name, schema]) => connection.model(name, schema))
  const api = app()
  for (const kind of kinds) {
    api.mount(`/${kind.modelName}`, createRouter({ model: fromMongoose(kind).model }))
  }
  before(async () => {
    await Promise.all(kinds.map((kind) => kind.init()))
    await api.ready()
  })

  for (const kind of kinds) {
    it(`are left out where Mongoose leaves them out: ${kind.modelName}`, async () => {
      const theirs = await kind.create({ name: 'x' })
      const path = `/${kind.modelName}`
      const { success, data } = await json(api, 'POST', path, { name: 'x' })
      assert.equal(success, true)
      const stored = await native.collection(kind.collection.name).find({}).toArray()
      const [before, afterwards] = stored.map(({ _id, ...rest }) => rest)
      assert.deepEqual(afterwards, before)
      const { data: read } = await json(api, 'GET', `${path}/${theirs._id}`)
      assert.deepEqual({ ...read, _id: data._id }, data)
    })
  }

  it('that MongoDB cannot index are a 400', async () => {
    for (const [path, loc] of [
      ['/Around', { type: 'Point', coordinates: [500, 1] }],
      ['/Around', { coordinates: [] }],
      ['/Pair', [500, 1]],
      ['/Pair', [1]],
    ] as const) {
      const { success, error } = await json(api, 'POST', path, { name: 'y', loc })
      assert.deepEqual([success, error], [false, 'Check the submitted values.'])
    }
  })
}

function scopes({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose

  it('are those that the report names', async () => {
    const User = connection.model(
      'Prefixed',
      new Schema({ _id: { type: String, default: () => 'usr_x', match: /^usr_/ }, n: Number }),
    )
    const ids = ['usr_1', 'usr_2'].values()
    const router = createRouter({
      model: fromMongoose(User).model,
      scope: {
        read: () => undefined,
        write: ({ method }) => (method === 'POST' ? { _id: String(ids.next().value) } : undefined),
      },
    })
    const api = app().mount('/users', router)
    for (const n of [1, 2]) {
      const { data } = await json(api, 'POST', '/users', { n })
      assert.equal(data._id, `usr_${n}`)
      const patched = await json(api, 'PATCH', `/users/${data._id}`, { n: n + 1 })
      assert.equal(patched.data.n, n + 1)
      await (await User.findById(data._id))?.set('n', 9).save()
    }
  })

  it('limit one kind, and give it to new records', async () => {
    const Animal = connection.model('Creature', new Schema({ name: String }))
    const Cat = Animal.discriminator('Cat', new Schema({ lives: Number }))
    const Dog = Animal.discriminator('Dog', new Schema({ tricks: Number }))
    const { model } = fromMongoose(Cat)
    const open = app().mount('/cats', createRouter({ model }))
    const refused = await json(open, 'POST', '/cats', { name: 'c' })
    assert.deepEqual(Object.keys(refused.fields), ['__t'])
    const cats = app().mount('/cats', createRouter({ model, scope: () => ({ __t: 'Cat' }) }))
    const dog = await Dog.create({ name: 'd' })
    const { data } = await json(cats, 'POST', '/cats', { name: 'c', __t: 'Dog' })
    assert.equal((await Cat.findById(data._id))?.name, 'c')
    assert.deepEqual((await json(cats, 'GET', '/cats')).data, [data])
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined
      const { error } = await json(cats, method, `/cats/${dog._id}`, body)
      assert.equal(error, 'Entry not found.')
    }
  })
}

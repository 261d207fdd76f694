/**
 * Paths that take any JSON value, and what they do not take.
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
  describe('mixed paths', () => mixed(place))
  describe('what is required', () => demands(place))
})

function mixed({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose
  const Note = connection.model(
    'Note',
    new Schema({
      meta: Schema.Types.Mixed,
      items: [],
      map: { type: Map, of: Schema.Types.Mixed },
      names: { type: Map, of: String },
      open: new Schema({ n: Number }, { strict: false }),
    }),
  )
  const { model } = fromMongoose(Note)
  const api = app().mount('/notes', createRouter({ model }))
  before(() => api.ready())
  const any = { _id: 'm', __v: 1, updatedAt: 'x', 'a.b': { $c: [{ createdAt: 1 }] } }

  it('keep every key on other stores, and in large values', async () => {
    const store = sqliteStore({ path: ':memory:' })
    const other = createApp({ store }).mount('/notes', createRouter({ model }))
    const items = Array.from({ length: 700 }, () => any)
    for (const place of [api, other]) {
      const { data } = await json(place, 'POST', '/notes', { meta: any, items: [any] })
      assert.deepEqual([data.meta, data.items], [any, [any]])
      const patched = await json(place, 'PATCH', `/notes/${data._id}`, { meta: items, items })
      assert.deepEqual([patched.data.meta, patched.data.items], [items, items])
    }
    await other.close()
  })

  it('refuse the keys that no JavaScript object should have, and change nothing', async () => {
    const { data } = await json(api, 'POST', '/notes', { meta: { a: 1 } })
    const path = `/notes/${data._id}`
    const unsafe = ['__proto__', 'constructor', 'prototype'].flatMap((key) => {
      const deep = `{"a":[{"${key}":{"x":1}}]}`
      const values = {
        meta: deep,
        map: deep,
        open: deep,
        items: `[${deep}]`,
        names: `{"${key}":"x"}`,
      }
      return Object.entries(values).map(([field, value]) => ({ key, field, value }))
    })
    for (const { key, field, value } of unsafe) {
      const body = JSON.parse(`{"${field}":${value}}`)
      const { success, error } = await json(api, 'PATCH', path, body)
      assert.deepEqual([success, error], [false, `Field '${field}' cannot hold the key '${key}'.`])
    }
    assert.deepEqual((await json(api, 'GET', path)).data.meta, { a: 1 })
  })

  it('keep what looks like a reference of MongoDB', async () => {
    for (const meta of [{ $id: 1 }, { $ref: 1, $id: 2 }, { $db: 'x' }, { $ref: 'x', $id: 'y' }]) {
      const { data } = await json(api, 'POST', '/notes', { meta })
      await json(api, 'PATCH', `/notes/${data._id}`, { meta })
      assert.deepEqual((await json(api, 'GET', `/notes/${data._id}`)).data.meta, meta)
    }
  })

  it('are elsewhere as before: keys of the server are dropped', async () => {
    const names = { 'a.b': 'x', $c: 'y', d: 'z' }
    const { data } = await json(api, 'POST', '/notes', { names, meta: 1, __v: 7 })
    assert.deepEqual(data.names, { d: 'z' })
    const stored = await Note.findById(data._id).lean()
    assert.notEqual(stored?.__v, 7)
  })
}

function demands({ mongoose, connection, app }: Place): void {
  const { Schema } = mongoose
  const { Mixed, Union } = Schema.Types
  const Demanding = connection.model(
    'Demanding',
    new Schema({
      any: { type: Mixed, required: [true, 'Give me anything'] },
      either: { type: Union, of: [Number, Mixed], required: true },
      tags: { type: [String], required: true },
      any_list: { type: [{ type: Mixed, required: true }] },
      state: { type: String, default: 'new', required: true },
      bytes: { type: Buffer, required: true },
      inside: { list: { type: [Number], required: true }, n: Number },
    }),
  )
  const api = app().mount('/demanding', createRouter({ model: fromMongoose(Demanding).model }))
  before(() => api.ready())
  const good = { any: 0, either: '', bytes: 'AA==' }

  it('is neither null nor missing', async () => {
    for (const [body, field] of [
      [{ any: null }, 'any'],
      [{ any: undefined }, 'any'],
      [{ either: null }, 'either'],
      [{ either: undefined }, 'either'],
      [{ tags: null }, 'tags'],
      [{ state: null }, 'state'],
      [{ bytes: '' }, 'bytes'],
      [{ inside: { list: null } }, 'inside.list'],
      [{ any_list: [null] }, 'any_list.0'],
    ] as const) {
      const sent = { ...good, ...body }
      assert.notEqual(new Demanding(sent as object).validateSync(), undefined, JSON.stringify(body))
      const { fields } = await json(api, 'POST', '/demanding', sent)
      assert.deepEqual(Object.keys(fields ?? {}), [field], JSON.stringify(body))
    }
    const { fields } = await json(api, 'POST', '/demanding', { ...good, any: null })
    assert.equal(fields.any, 'Give me anything')
  })

  it('may be anything else, and keeps its default', async () => {
    for (const any of [0, '', false, [], {}]) {
      const { data } = await json(api, 'POST', '/demanding', { ...good, any, either: any })
      assert.deepEqual([data.any, data.tags, data.state, data.inside.list], [any, [], 'new', []])
      for (const change of [{ any: null }, { tags: null }, { state: null }]) {
        const refused = await json(api, 'PATCH', `/demanding/${data._id}`, change)
        assert.deepEqual(Object.keys(refused.fields ?? {}), Object.keys(change))
      }
    }
  })
}

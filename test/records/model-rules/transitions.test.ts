import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import { createRouter, defineModel, HttpError } from '../../../src/index.ts'
import { openapi } from '../../../src/openapi/index.ts'
import { service } from '../service.ts'

const status = z.enum(['requested', 'approved', 'declined', 'lent', 'returned'])
const Loan = defineModel('RuledLoan', {
  fields: { title: z.string(), status: status.default('requested'), level: z.number().optional() },
  transitions: {
    status: { requested: ['approved', 'declined'], approved: ['lent'], lent: ['returned'] },
    level: { 1: [2], 2: [3] },
  },
  initial: { status: ['requested', 'approved'], level: [1, 2] },
})

function loans() {
  const made = service({ store: sqliteStore() })
  made.app
    .mount('/loans', createRouter({ model: Loan, middlewares: [] }))
    .mount('/batch', batch())
    .mount('/docs', openapi({ title: 't', version: '1' }))
  const collection = made.app.store.collection(Loan)
  const create = async (json: object) => {
    const { record } = await made.send('POST', '/loans', { json: { title: 'x', ...json } })
    return `/loans/${record._id}`
  }
  return {
    ...made,
    collection,
    create,
    patch: (path: string, json: object) => made.send('PATCH', path, { json }),
  }
}

const LENT_TO_REQUESTED = "'status' cannot change from 'lent' to 'requested'."

describe('transitions', () => {
  it('let a value become those that the model names, and itself', async () => {
    const { create, patch } = loans()
    const path = await create({})
    for (const next of ['requested', 'approved', 'approved', 'lent']) {
      expect(await patch(path, { status: next })).toMatchObject({
        status: 200,
        record: { status: next },
      })
    }
    expect(await patch(path, { status: 'requested' })).toMatchObject({
      status: 409,
      body: { success: false, error: LENT_TO_REQUESTED },
    })
    expect(await patch(path, { title: 'y' })).toMatchObject({
      status: 200,
      record: { status: 'lent' },
    })
    expect((await patch(path, { status: 'returned' })).status).toBe(200)
    expect((await patch(path, { status: 'lent' })).body.error).toBe(
      "'status' cannot change from 'returned' to 'lent'.",
    )
    expect((await patch('/loans/0123456789abcdef01234567', { status: 'lent' })).status).toBe(404)
  })

  it('let a field that has no value begin with one that new records may have', async () => {
    const { create, patch } = loans()
    const path = await create({})
    expect((await patch(path, { level: 3 })).status).toBe(409)
    expect((await patch(path, { level: 2 })).status).toBe(200)
    expect((await patch(path, { level: 3 })).status).toBe(200)
    expect((await patch(path, { level: 1 })).body.error).toBe("'level' cannot change from 3 to 1.")
    expect((await patch(path, { level: null })).body.error).toBe(
      "'level' cannot change from 3 to null.",
    )
  })

  it('say what a new record may begin with', async () => {
    const { send, collection } = loans()
    const refused = await send('POST', '/loans', { json: { title: 'x', status: 'lent' } })
    expect(refused).toMatchObject({
      status: 400,
      body: { fields: { status: "Must be 'requested' or 'approved' at first." } },
    })
    await expect(collection.insert({ title: 'x', status: 'lent' })).rejects.toMatchObject({
      status: 400,
    })
    expect(await collection.count()).toBe(0)
    expect(await collection.insert({ title: 'x', status: 'approved' })).toMatchObject({
      status: 'approved',
    })
  })

  it('do not tell what is stored in a hidden field', async () => {
    const Hidden = defineModel('RuledHidden', {
      fields: { state: z.string().max(9) },
      transitions: { state: { secret: ['open'] } },
      hidden: ['state'],
    })
    const { app } = service({ store: sqliteStore() })
    const { _id } = await app.store.collection(Hidden).insert({ state: 'secret' })
    const change = app.store.collection(Hidden).update(_id, { state: 'x' })
    await expect(change).rejects.toEqual(new HttpError(409, "'state' cannot change to 'x'."))
  })

  it.each([
    ['`fieldsFor` withholds', { fieldsFor: () => ['title'] as const }],
    [
      'the scope of reads leaves out',
      { scope: { read: () => ({ title: 'mine' }), write: () => ({ level: 1 }) } },
    ],
  ])('do not tell a client what %s', async (_, options) => {
    const { app, collection, send } = loans()
    app.mount('/own', createRouter({ model: Loan, middlewares: [], ...options }))
    const { _id } = await collection.insert({ title: 'x', status: 'approved', level: 1 })
    const operation = { method: 'PATCH', path: `/own/${_id}`, body: { status: 'returned' } }
    const told = "'status' cannot change to 'returned'."
    expect((await send('PATCH', operation.path, { json: operation.body })).body.error).toBe(told)
    const json = { operations: [operation] }
    expect((await send('POST', '/batch', { json })).body.error).toBe(told)
  })

  it.each([
    ['the model hides', ['status'], {}],
    ['`fieldsFor` withholds', [], { fieldsFor: () => ['title'] }],
  ])(
    'do not tell who restores a record what was in a field that %s',
    async (_, hidden, options) => {
      const Kept = defineModel('RuledKept', {
        fields: { title: z.string(), status },
        transitions: { status: { requested: ['approved'] } },
        ...{ hidden, changes: true },
      } as never)
      const { app, send } = service({ store: sqliteStore() })
      const kept = { model: Kept, middlewares: [], history: true, access: { restore: true } }
      app.mount('/kept', createRouter({ ...kept, ...options } as never))
      const collection = app.store.collection(Kept as never)
      const { _id } = await collection.insert({ title: 'x', status: 'requested' } as never)
      await collection.update(_id, { status: 'approved' } as never)
      const [{ id: changeId } = {}] = (await send('GET', `/kept/${_id}/history`)).records
      const restored = await send('POST', `/kept/${_id}/restore`, { json: { changeId } })
      expect([restored.status, restored.body.error]).toEqual([
        409,
        "'status' cannot change to what it was.",
      ])
    },
  )

  it('tell what a client sees of the record, whatever else is withheld', async () => {
    const { app, collection, send } = loans()
    const scope = { read: () => ({ title: 'x' }), write: () => ({ level: 1 }) }
    const fieldsFor = () => ['status'] as const
    app.mount('/own', createRouter({ model: Loan, middlewares: [], scope, fieldsFor }))
    const { _id } = await collection.insert({ title: 'x', status: 'approved', level: 1 })
    expect((await send('PATCH', `/own/${_id}`, { json: { status: 'returned' } })).body.error).toBe(
      "'status' cannot change from 'approved' to 'returned'.",
    )
  })

  it('hold for batches, your own code and atomic steps', async () => {
    const { app, send, collection } = loans()
    const { _id } = await collection.insert({ title: 'x' })
    const to = (value: string) => ({
      method: 'PATCH',
      path: `/loans/${_id}`,
      body: { status: value },
    })
    const both = await send('POST', '/batch', {
      json: { operations: [to('approved'), to('lent')] },
    })
    expect(both.status).toBe(200)
    const refused = await send('POST', '/batch', {
      json: { operations: [to('returned'), to('requested')] },
    })
    expect(refused).toMatchObject({
      status: 409,
      body: { error: "'status' cannot change from 'returned' to 'requested'.", operation: 1 },
    })
    const error = new HttpError(409, LENT_TO_REQUESTED)
    await expect(collection.update(_id, { status: 'requested' })).rejects.toEqual(error)
    await expect(collection.updateWhere({ title: 'x' }, { status: 'requested' })).rejects.toEqual(
      error,
    )
    const step = app.store.atomic(async (tx) => {
      await tx.collection(Loan).update(_id, { title: 'y' })
      await tx.collection(Loan).update(_id, { status: 'requested' })
    })
    await expect(step).rejects.toEqual(error)
    expect(await collection.findById(_id)).toMatchObject({ status: 'lent', title: 'x' })
    expect(await collection.updateWhere({ title: 'x' }, { status: 'returned' })).toBe(1)
  })

  it('decide in the step of the write: of many at once, one is taken', async () => {
    const { create, patch } = loans()
    const path = await create({})
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        patch(path, { status: at % 2 ? 'approved' : 'declined' }),
      ),
    )
    const taken = all.filter(({ status: code }) => code === 200)
    expect(new Set(taken.map(({ record }) => record.status)).size).toBe(1)
    expect(taken.length).toBe(10)
  })

  it('hold for values of earlier models, as they are shown now', async () => {
    const store = sqliteStore()
    const Old = defineModel('RuledOld', { fields: { state: z.string().optional() } })
    const { app: before } = service({ store })
    const old = before.store.collection(Old)
    const ids = [await old.insert({ state: 'OPEN' }), await old.insert({})].map(({ _id }) => _id)
    const Now = defineModel('RuledOld', {
      fields: { state: z.enum(['open', 'done', 'kept']).default('open') },
      convert: { state: (value) => String(value).toLowerCase() },
      transitions: { state: { open: ['done'] } },
    })
    const now = service({ store }).app.store.collection(Now)
    for (const id of ids) {
      await expect(now.update(id, { state: 'kept' })).rejects.toThrow(
        "'state' cannot change from 'open' to 'kept'.",
      )
      expect(await now.update(id, { state: 'done' })).toMatchObject({ state: 'done' })
    }
  })

  it('are in the OpenAPI document', async () => {
    const { send } = loans()
    const { body } = await send('GET', '/docs/openapi.json')
    const text = JSON.stringify(body)
    expect(text).toContain('"x-transitions":{"requested":["approved","declined"]')
    expect(text).toContain(
      "Changes only from 'requested' to 'approved' or 'declined'; from 'approved' to 'lent'",
    )
    expect(text).toContain('"x-initial":["requested","approved"]')
    expect(text).toContain("'status' cannot change from '<value>' to '<value>'.")
  })

  it('fail at start-up for what the model does not have', () => {
    const define = (more: object) => () =>
      defineModel('Wrong', {
        fields: { status: z.enum(['a', 'b']).default('a'), at: z.date(), n: z.number() },
        ...more,
      } as never)
    expect(define({ transitions: { statu: { a: ['b'] } } })).toThrow(
      "Model 'Wrong': 'transitions' lists 'statu', but Wrong has no such field. Did you mean 'status'?",
    )
    expect(define({ transitions: { status: { a: ['bb'] } } })).toThrow(
      "'transitions' lists 'bb' for 'status', which does not take it.",
    )
    expect(define({ transitions: { status: { c: ['a'] } } })).toThrow("lists 'c' for 'status'")
    expect(define({ transitions: { n: { x: [1] } } })).toThrow("lists 'NaN' for 'n'")
    expect(define({ transitions: { at: {} } })).toThrow('is not a field of strings or numbers')
    expect(define({ transitions: { status: ['a'] } })).toThrow(
      "'transitions' must be an object of fields",
    )
    expect(define({ initial: { status: ['b'] } })).toThrow(
      "'initial' leaves out 'a', which is the default of 'status'",
    )
    expect(define({ initial: { status: 'a' } })).toThrow("'initial' must be an object of fields")
  })
})

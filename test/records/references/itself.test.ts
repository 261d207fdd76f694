import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { service } from '../service.ts'

/** Records that refer to themselves, and one that refers to the first, by references that keep it. */
async function knots(changes: boolean) {
  const Knot = defineModel('RefKnot', {
    fields: {
      name: z.string(),
      kept: ref('RefKnot', { onDelete: 'restrict' }).optional(),
      loose: ref('RefKnot', { onDelete: 'unset' }).optional(),
      some: z.array(ref('RefKnot', { onDelete: 'unset' })).optional(),
      all: z.array(ref('RefKnot', { onDelete: 'restrict' })).optional(),
    },
    changes,
  })
  const made = service({ store: sqliteStore() })
  made.app.mount('/knots', createRouter({ model: Knot, middlewares: [] })).mount('/batch', batch())
  const records = made.app.store.collection(Knot)
  const _id = 'a'.repeat(24)
  const all = { kept: _id, loose: _id, some: [_id], all: [_id] }
  await records.insert({ _id, name: 'itself', ...all })
  await records.insert({ name: 'other', loose: _id, some: [_id] })
  return { ...made, records, _id }
}

it.each([
  ['whose changes are logged', true],
  ['whose changes are not', false],
])('a record that refers to itself can be removed: of a model %s', async (_, changes) => {
  const { send, records, _id } = await knots(changes)
  expect((await send('DELETE', `/knots/${_id}`)).status).toBe(200)
  const left = await records.find()
  expect(left).toEqual([{ _id: left[0]?._id, name: 'other', some: [] }])

  const again = await knots(changes)
  const json = { operations: [{ method: 'DELETE', path: `/knots/${again._id}` }] }
  expect((await again.send('POST', '/batch', { json })).status).toBe(200)
  expect(await again.records.count()).toBe(1)
})

/** Two apps in one process, whose models have the same names and ids of different kinds. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { type Service, service } from '../service.ts'

/** An app whose towns refer to lands with ids of this kind. */
function atlas(id: 'objectId' | 'uuid'): Service {
  const Land = defineModel('ApartLand', { fields: { name: z.string() }, id })
  const Town = defineModel('ApartTown', { fields: { land: ref('ApartLand').optional() } })
  const one = service()
  const open = { middlewares: [], query: ['land'] } as const
  one.app.mount('/lands', createRouter({ model: Land, middlewares: [] }))
  one.app.mount('/towns', createRouter({ ...open, model: Town }))
  return one
}

it('each app fills in its own model, also one that it has no router for: what that hides stays hidden', async () => {
  const fields = { name: z.string(), secret: z.string().optional() }
  const Owner = defineModel('ApartOwner', { fields, hidden: ['secret'] })
  const Pet = defineModel('ApartPet', { fields: { owner: ref('ApartOwner') } })
  const store = sqliteStore()
  const { app: filling } = service({ store })
  const owner = await filling.store.collection(Owner).insert({ name: 'Ann', secret: 'unseen' })
  await filling.store.collection(Pet).insert({ owner: owner._id })
  const { app, send } = service({ store })
  const reads = { expandable: ['owner'], onGet: () => ({ populate: 'owner' as const }) } as const
  app.mount('/pets', createRouter({ model: Pet, ...reads, middlewares: [], allowedFields: [] }))
  await app.ready()
  defineModel('ApartOwner', { fields })
  for (const path of ['/pets', '/pets?expand=owner']) {
    const { text } = await send('GET', path)
    expect(text).toContain('Ann')
    expect(text).not.toContain('unseen')
  }
})

it('each app knows its own models: a reference takes the ids of the model that it started with', async () => {
  const older = atlas('objectId')
  await older.app.ready()
  const newer = atlas('uuid')
  await newer.app.ready()
  for (const { send } of [older, newer, older]) {
    const land = (await send('POST', '/lands', { json: { name: 'x' } })).record._id
    const made = await send('POST', '/towns', { json: { land } })
    expect(made.body.fields).toBeUndefined()
    expect(made.record.land).toBe(land)
    expect((await send('GET', `/towns?land=${land}`)).records).toHaveLength(1)
    expect((await send('PATCH', `/towns/${made.record._id}`, { json: { land } })).status).toBe(200)
    expect((await send('GET', '/towns?land=x')).body.error).toBe('Invalid value for land.')
  }
})

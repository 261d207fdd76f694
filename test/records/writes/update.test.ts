import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type RouterOptions } from '../../../src/index.ts'
import { service } from '../service.ts'

const fields = {
  name: z.string(),
  size: z.number().optional(),
  tags: z.array(z.string()).optional(),
  place: z.object({ city: z.string().optional(), zip: z.string().optional() }).optional(),
}
const Thing = defineModel('UpdateThing', { fields })
type ThingOptions = Partial<RouterOptions<{ name: string }>>

function things(options: ThingOptions = {}) {
  const served = service()
  served.app.mount(
    '/things',
    createRouter({ model: Thing, blockedFields: [], ...(options as object) }),
  )
  return { ...served, stored: served.app.store.collection(Thing) }
}

const NOWHERE = `/things/${'f'.repeat(24)}`

describe('answers, Writes: the order of a PATCH', () => {
  test('answers, Writes: id format, then policy, then validate, then schema, then existence', async () => {
    const trace: string[] = []
    const { send } = things({
      allowedFields: ['name'],
      validate: () => void trace.push('validate'),
    })
    const failing = { body: '{', headers: { 'content-type': 'application/json' } }
    expect((await send('PATCH', '/things/xyz', failing)).body.error).toBe('Invalid ID format.')
    expect((await send('PATCH', NOWHERE, failing)).body.error).toBe(
      'Request body is not valid JSON.',
    )
    expect((await send('PATCH', NOWHERE, { json: { size: 1 } })).body.error).toBe(
      'Request body contains no writable fields.',
    )
    expect(trace).toEqual([])
    expect((await send('PATCH', NOWHERE, { json: { name: 5 } })).body.error).toBe(
      'Check the submitted values.',
    )
    expect(trace).toEqual(['validate'])
    expect((await send('PATCH', NOWHERE, { json: { name: 'a' } })).body.error).toBe(
      'Entry not found.',
    )
  })
})

describe('answers, Writes: keys are replaced whole', () => {
  test('answers, Writes: objects and lists are not merged', async () => {
    const { send } = things()
    const json = { name: 'a', tags: ['x', 'y'], place: { city: 'Oslo', zip: '1' } }
    const { record } = await send('POST', '/things', { json })
    const path = `/things/${record._id}`
    expect((await send('PATCH', path, { json: { place: { city: 'Rome' } } })).record.place).toEqual(
      { city: 'Rome' },
    )
    expect((await send('PATCH', path, { json: { tags: ['z'] } })).record.tags).toEqual(['z'])
    expect((await send('PATCH', path, { json: { tags: [], place: {} } })).record).toMatchObject({
      tags: [],
      place: {},
    })
    expect((await send('GET', path)).record).toEqual({
      _id: record._id,
      name: 'a',
      tags: [],
      place: {},
    })
  })

  test('4.1 PATCH: the answer is the whole record as a read gives it', async () => {
    const { send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a', size: 1 } })
    const patched = await send('PATCH', `/things/${record._id}`, { json: { size: 2 } })
    expect(patched.status).toBe(200)
    expect(patched.text).toBe((await send('GET', `/things/${record._id}`)).text)
  })

  test('4.1 PATCH: only that record changes', async () => {
    const { send, stored } = things()
    const made = await Promise.all(['a', 'b', 'c'].map((name) => stored.insert({ name })))
    await send('PATCH', `/things/${made[1]?._id}`, { json: { name: 'changed' } })
    expect((await stored.find()).map(({ name }) => name)).toEqual(['a', 'changed', 'c'])
  })
})

describe('security, parallel writes', () => {
  test('two parallel PATCHes of different fields both survive, 200 runs', async () => {
    const { send, stored } = things()
    const { _id } = await stored.insert({ name: '', size: 0 })
    for (let run = 1; run <= 200; run += 1) {
      const answers = await Promise.all([
        send('PATCH', `/things/${_id}`, { json: { name: `n${run}` } }),
        send('PATCH', `/things/${_id}`, { json: { size: run } }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(await stored.findById(_id)).toEqual({ _id, name: `n${run}`, size: run })
    }
  })

  test('twenty parallel PATCHes of twenty fields all survive', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`)
    const Wide = defineModel('UpdateWide', {
      fields: Object.fromEntries(names.map((name) => [name, z.number().optional()])),
    })
    const { app, send } = service()
    app.mount('/wide', createRouter({ model: Wide, blockedFields: [] }))
    const { _id } = await app.store.collection(Wide).insert({})
    await Promise.all(
      names.map((name, index) => send('PATCH', `/wide/${_id}`, { json: { [name]: index } })),
    )
    const expected = Object.fromEntries(names.map((name, index) => [name, index]))
    expect((await send('GET', `/wide/${_id}`)).record).toEqual({ _id, ...expected })
  })

  test('a PATCH that races a DELETE is a 200 or a 404, and the record stays gone, 200 runs', async () => {
    const { send, stored } = things()
    for (let run = 0; run < 200; run += 1) {
      const { _id } = await stored.insert({ name: 'a' })
      const requests = [
        () => send('PATCH', `/things/${_id}`, { json: { name: 'b' } }),
        () => send('DELETE', `/things/${_id}`),
      ]
      if (run % 2 === 1) requests.reverse()
      const answers = await Promise.all(requests.map((start) => start()))
      const [patched, deleted] = run % 2 === 1 ? answers.reverse() : answers
      expect(deleted?.status).toBe(200)
      expect([200, 404]).toContain(patched?.status)
      expect(await stored.findById(_id)).toBeNull()
    }
    expect(await stored.count()).toBe(0)
  })

  test('of parallel DELETEs exactly one is a 200', async () => {
    const { send, stored } = things()
    const { _id } = await stored.insert({ name: 'a' })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('DELETE', `/things/${_id}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(404)])
  })
})

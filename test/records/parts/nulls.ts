/**
 * What null means in a write, on any store.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Store } from '../../../src/index.ts'
import { service } from '../service.ts'

const place = z.object({
  city: z.string(),
  zip: z.string().optional(),
  note: z.string().nullish(),
  kind: z.string().default('home'),
})
const Thing = defineModel('NullThing', {
  fields: {
    name: z.string(),
    size: z.number().optional(),
    at: z.date().optional(),
    made: z.coerce.date().optional(),
    tags: z.array(z.string()).optional(),
    level: z.enum(['low', 'high']).optional(),
    lazy: z.lazy(() => z.string()).optional(),
    code: z.union([z.string(), z.number()]).optional(),
    note: z.string().nullish(),
    bare: z.string().nullable(),
    nil: z.union([z.string(), z.null()]).optional(),
    any: z.unknown().optional(),
    kind: z.string().default('plain'),
    place: place.optional(),
    places: z.array(place).optional(),
    scores: z.record(z.string(), z.number().optional()).optional(),
    shape: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('round'), radius: z.number().optional() }),
        z.object({ type: z.literal('flat'), width: z.number() }),
      ])
      .optional(),
  },
  timestamps: true,
})
const REMOVABLE = {
  size: 5,
  at: '2024-01-01T00:00:00.000Z',
  made: '2024-01-01T00:00:00.000Z',
  tags: ['a'],
  level: 'low',
  lazy: 'x',
  code: 7,
  place: { city: 'Oslo', kind: 'home' },
  places: [{ city: 'Oslo', kind: 'home' }],
  scores: { a: 1 },
  shape: { type: 'round', radius: 1 },
} as const

/** Registers the suite. */
export function nulls(name: string, open: () => Store): void {
  function things() {
    const served = service({ store: open() })
    served.app.mount('/things', createRouter({ model: Thing, blockedFields: [] }))
    const post = (json: object) =>
      served.send('POST', '/things', { json: { name: 'a', bare: null, ...json } })
    return { ...served, stored: served.app.store.collection(Thing), post }
  }

  describe(`${name}: null in a write`, () => {
    test.each(Object.entries(REMOVABLE))('removes the optional field %s', async (field, value) => {
      const { send, stored, post } = things()
      const { record } = await post({ [field]: value })
      expect(record[field]).toEqual(value)
      const path = `/things/${record._id}`
      const patched = await send('PATCH', path, { json: { [field]: null } })
      expect(patched.status, patched.text).toBe(200)
      expect(patched.record).not.toHaveProperty(field)
      expect((await send('GET', path)).record).not.toHaveProperty(field)
      expect(await stored.findById(String(record._id))).not.toHaveProperty(field)
      expect(patched.record).toMatchObject({ name: 'a', kind: 'plain' })
      // Where there is nothing, nothing is removed.
      expect((await send('PATCH', path, { json: { [field]: null } })).status).toBe(200)
    })

    test('leaves out of a POST what may be left out, and fills in defaults', async () => {
      const { post, stored } = things()
      const sent = Object.fromEntries(Object.keys(REMOVABLE).map((field) => [field, null]))
      const { status, record } = await post({ ...sent, kind: null, note: null })
      expect(status).toBe(201)
      const { createdAt, updatedAt, ...fields } = record
      expect(fields).toEqual({ _id: record._id, name: 'a', bare: null, note: null, kind: 'plain' })
      expect(Object.keys(fields)).not.toContain('size')
      expect(await stored.findById(String(record._id))).toMatchObject({ note: null, kind: 'plain' })
    })

    test('is stored where the model takes it', async () => {
      const { send, post, stored } = things()
      const { record } = await post({ note: 'n', bare: 'b', nil: 'n', any: 1 })
      const json = { note: null, bare: null, nil: null, any: null }
      const path = `/things/${record._id}`
      expect((await send('PATCH', path, { json })).record).toMatchObject(json)
      expect(await stored.findById(String(record._id))).toMatchObject(json)
    })

    test('is refused where the record must have a value', async () => {
      const { send, post } = things()
      const { record } = await post({})
      for (const field of ['name', 'kind']) {
        const answer = await send('PATCH', `/things/${record._id}`, { json: { [field]: null } })
        expect(answer).toMatchObject({
          status: 400,
          body: { error: 'Check the submitted values.' },
        })
        expect(Object.keys(answer.body.fields ?? {})).toEqual([field])
      }
      const refused = await post({ name: null, place: { city: null } })
      expect(Object.keys(refused.body.fields ?? {})).toEqual(['name', 'place.city'])
    })

    test('leaves out members of objects, in lists, maps and unions too', async () => {
      const { send, post } = things()
      const { record } = await post({})
      const nested = { city: 'Oslo', zip: null, note: null, kind: null }
      const kept = { city: 'Oslo', note: null, kind: 'home' }
      const json = {
        place: nested,
        places: [nested, { ...nested, zip: '1' }],
        scores: { a: null, b: 2 },
        shape: { type: 'round', radius: null },
      }
      const { status, record: patched } = await send('PATCH', `/things/${record._id}`, { json })
      expect(status).toBe(200)
      expect(patched.place).toEqual(kept)
      expect(patched.places).toEqual([kept, { ...kept, zip: '1' }])
      expect(patched.scores).toEqual({ b: 2 })
      expect(patched.shape).toEqual({ type: 'round' })
      const flat = { shape: { type: 'flat', width: null } }
      expect((await send('PATCH', `/things/${record._id}`, { json: flat })).status).toBe(400)
      const list = { tags: ['a', null] }
      const refused = await send('PATCH', `/things/${record._id}`, { json: list })
      expect(Object.keys(refused.body.fields ?? {})).toEqual(['tags.1'])
    })

    test('means the same to app.store', async () => {
      const { stored, post } = things()
      const { record } = await post({ size: 1, note: 'n', code: 'c' })
      const id = String(record._id)
      const updated = await stored.update(id, { size: null, note: null })
      expect(updated).not.toHaveProperty('size')
      expect(updated?.note).toBeNull()
      expect(await stored.updateWhere({ name: 'a' }, { code: null })).toBe(1)
      expect(await stored.findById(id)).not.toHaveProperty('code')
      await expect(stored.update(id, { name: null } as never)).rejects.toThrow()
      const inserted = await stored.insert({ name: 'b', bare: null, size: null } as never)
      expect(inserted).not.toHaveProperty('size')
    })

    test('goes with If-Match: a version that was removed from is another one', async () => {
      const { send, post } = things()
      const { record } = await post({ size: 1 })
      const path = `/things/${record._id}`
      const tag = (await send('GET', path)).headers.get('etag') ?? ''
      const patch = (json: object, match: string) =>
        send('PATCH', path, { json, headers: { 'if-match': match } })
      expect((await patch({ size: null }, tag)).status).toBe(200)
      expect((await patch({ name: 'b' }, tag)).status).toBe(412)
      const next = (await send('GET', path)).headers.get('etag') ?? ''
      expect((await patch({ size: 2 }, next)).record).toMatchObject({ size: 2 })
    })
  })
}

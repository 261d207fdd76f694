/**
 * What a PATCH of an object leaves of it, on any store.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Store,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const Person = defineModel('PartPerson', {
  fields: {
    name: z.string(),
    prof: z
      .object({
        pub: z.string().optional(),
        tags: z.array(z.string()).optional(),
        priv: z.string().optional(),
        score: z.number().default(1),
        sub: z.object({ a: z.number().optional(), secret: z.string().optional() }).optional(),
      })
      .optional(),
    must: z.object({ pub: z.string(), key: z.string() }).optional(),
    open: z.looseObject({ pub: z.string().optional(), priv: z.string().optional() }).optional(),
    free: z.looseObject({ a: z.string().optional() }).optional(),
    map: z.record(z.string(), z.string()).optional(),
    addr: z
      .object({ city: z.string().optional(), geo: z.object({ lat: z.number() }).optional() })
      .nullish(),
    list: z.array(z.object({ pub: z.string(), priv: z.string().optional() })).optional(),
  },
  collection: 'partpeople',
  hidden: ['prof.priv', 'prof.score', 'prof.sub.secret', 'must.key', 'open.priv', 'list.priv'],
})
/** The same collection, as another version of the app knows it. */
const Wider = defineModel('PartWider', {
  fields: {
    ...Person.fields,
    addr: z.looseObject({}).nullish(),
    prof: z.looseObject({}).optional(),
  },
  collection: 'partpeople',
})

/** Registers the suite; `open` gives a store on the same empty database each time that it is asked in a test. */
export function objects(name: string, open: () => { store(): Store }): void {
  async function people(stored: Fields) {
    const database = open()
    const served = service({ store: database.store() })
    served.app.mount('/people', createRouter({ model: Person, blockedFields: [] }))
    const other = createApp({ store: database.store(), env: {} })
    const wide = other.store.collection(Wider)
    await served.app.ready()
    const { _id } = await wide.insert({ name: 'a', ...stored } as never)
    const path = `/people/${_id}`
    return {
      ...served,
      id: _id,
      path,
      patch: (json: object) => served.send('PATCH', path, { json }),
      people: served.app.store.collection(Person),
      /** What the database holds. */
      whole: async () => {
        const { _id: _, name: __, ...rest } = { ...(await wide.findById(_id)) } as Fields
        return rest
      },
    }
  }

  describe(`${name}: a PATCH of an object`, () => {
    const prof = {
      pub: 'x',
      tags: ['t'],
      priv: 'secret',
      score: 7,
      sub: { a: 1, secret: 's' },
      old: [1],
    }

    test('replaces what the client sees, and keeps what is hidden or declared by no model', async () => {
      const { patch, whole } = await people({ prof })
      const answer = await patch({ prof: { pub: 'y' } })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).not.toContain('secret')
      expect(await whole()).toEqual({
        prof: { pub: 'y', priv: 'secret', score: 7, sub: { secret: 's' }, old: [1] },
      })
      await patch({ prof: { tags: ['u'], sub: { a: 2 } } })
      expect(await whole()).toEqual({
        prof: { tags: ['u'], priv: 'secret', score: 7, sub: { a: 2, secret: 's' }, old: [1] },
      })
    })

    test('keeps them where nothing is left that the client sees', async () => {
      const { patch, whole } = await people({ prof, addr: { city: 'Oslo' } })
      expect((await patch({ prof: {}, addr: {} })).status).toBe(200)
      expect(await whole()).toEqual({
        prof: { priv: 'secret', score: 7, sub: { secret: 's' }, old: [1] },
        addr: {},
      })
    })

    test.each<[string, Fields]>([
      ['is not there', {}],
      ['is null', { addr: null }],
    ])('makes the object where it %s', async (_, stored) => {
      const { patch, whole } = await people(stored)
      await patch({ addr: {}, prof: { pub: 'y' } })
      expect(await whole()).toEqual({ addr: {}, prof: { pub: 'y', score: 1 } })
      await patch({ addr: { geo: { lat: 1 } } })
      expect(await whole()).toMatchObject({ addr: { geo: { lat: 1 } } })
    })

    test('takes what is hidden as it is stored where the model needs it', async () => {
      const { patch, whole } = await people({ must: { pub: 'x', key: 'k' } })
      expect((await patch({ must: { pub: 'y' } })).record).toMatchObject({ must: { pub: 'y' } })
      expect(await whole()).toEqual({ must: { pub: 'y', key: 'k' } })
      expect((await patch({ must: {} })).body.fields).toHaveProperty(['must.pub'])
    })

    test('removes the whole with null', async () => {
      const { patch, whole } = await people({ prof, addr: { city: 'Oslo', old: 1 } })
      expect((await patch({ prof: null, addr: null })).status).toBe(200)
      expect(await whole()).toEqual({ addr: null })
    })

    test('replaces lists and maps whole, and open objects but for what is hidden', async () => {
      const { patch, whole } = await people({
        open: { pub: 'x', priv: 'secret', more: 1 },
        free: { a: 'x', more: 1 },
        map: { a: 'x', b: 'y' },
        list: [{ pub: 'x', priv: 'secret' }],
      })
      const json = {
        open: { pub: 'y', new: 2 },
        free: { b: 1 },
        map: { c: 'z' },
        list: [{ pub: 'y' }],
      }
      expect((await patch(json)).status).toBe(200)
      expect(await whole()).toEqual({ ...json, open: { pub: 'y', new: 2, priv: 'secret' } })
    })

    test('by the code of the app replaces what is hidden, and keeps what no model declares', async () => {
      const { people: stored, id, whole } = await people({ prof, addr: { city: 'Oslo', old: 1 } })
      await stored.update(id, { prof: { pub: 'y', score: 2 } })
      expect(await whole()).toMatchObject({ prof: { pub: 'y', score: 2, old: [1] } })
      expect((await whole()).prof).not.toHaveProperty('priv')
      expect(await stored.updateWhere({}, { addr: { city: 'Bergen' } })).toBe(1)
      expect((await whole()).addr).toEqual({ city: 'Bergen', old: 1 })
      expect(await stored.updateWhere({}, { addr: {} })).toBe(1)
      expect((await whole()).addr).toEqual({ old: 1 })
    })

    test('shows rules across fields the object as it will be', async () => {
      const Ruled = defineModel('PartRuled', {
        fields: z
          .object({ box: z.object({ size: z.number().optional(), most: z.number().optional() }) })
          .refine(({ box }) => (box.size ?? 0) <= (box.most ?? 0), 'Too large.'),
        hidden: ['box.most'],
      })
      const { app, send } = service({ store: open().store() })
      app.mount('/ruled', createRouter({ model: Ruled, allowedFields: ['box'] }))
      const { _id } = await app.store.collection(Ruled).insert({ box: { size: 1, most: 5 } })
      const patch = (box: object) => send('PATCH', `/ruled/${_id}`, { json: { box } })
      expect((await patch({ size: 5 })).record).toEqual({ _id, box: { size: 5 } })
      expect((await patch({ size: 6 })).status).toBe(400)
      expect((await patch({})).record).toEqual({ _id, box: {} })
      expect(await app.store.collection(Ruled).find()).toEqual([{ _id, box: { most: 5 } }])
    })

    test('replaces one of many members too', async () => {
      const names = Array.from({ length: 150 }, (_, index) => `m${index}`)
      const Wide = defineModel('PartWide', {
        fields: {
          at: z.object(Object.fromEntries(names.map((key) => [key, z.number().optional()]))),
        },
      })
      const { app, send } = service({ store: open().store() })
      app.mount('/wide', createRouter({ model: Wide, allowedFields: ['at'] }))
      const all = (value: number) => Object.fromEntries(names.map((key) => [key, value]))
      const { _id } = await app.store.collection(Wide).insert({ at: all(1) })
      for (const at of [all(2), { m7: 3 }, {}, all(4)]) {
        const answer = await send('PATCH', `/wide/${_id}`, { json: { at } })
        expect(answer.status, answer.text).toBe(200)
        expect(answer.record.at).toEqual(at)
      }
    })

    test('loses nothing of what others write into the hidden part meanwhile', async () => {
      const { patch, people: stored, id, whole } = await people({ prof: { pub: 'x', score: 1 } })
      const { score: _, ...kept } = { score: 0, pub: 'x' }
      await Promise.all([
        ...Array.from({ length: 10 }, (_, n) => patch({ prof: { pub: `p${n}` } })),
        stored.update(id, { prof: { ...kept, score: 5, priv: 'new' } }),
      ])
      expect(await whole()).toMatchObject({ prof: { priv: 'new', score: 5 } })
    })

    test('keeps what is in lists under names that every object has', async () => {
      const { patch, path, send, people: stored, id } = await people({})
      const inside = { a: [{ b: 1 }], toString: [{ b: 2 }] }
      const free = {
        valueOf: [{ a: 1 }],
        hasOwnProperty: [inside],
        isPrototypeOf: { toString: [{}] },
      }
      expect((await patch({ free })).record.free).toEqual(free)
      expect((await send('GET', path)).record.free).toEqual(free)
      expect((await send('GET', '/people')).records[0]?.free).toEqual(free)
      expect((await stored.findById(id))?.free).toEqual(free)
      expect((await patch({ name: 'b' })).record.free).toEqual(free)
    })

    test('lists of lists are hidden, whole or a member of theirs', async () => {
      const cell = z.object({ pub: z.string(), priv: z.string() })
      const Board = defineModel('PartBoard', {
        fields: {
          secrets: z.array(z.array(z.number())),
          rows: z.array(z.array(cell)),
          in: z.object({ rows: z.array(z.array(z.array(z.string()))), pub: z.string() }),
        },
        hidden: ['secrets', 'rows.priv', 'in.rows'],
      })
      const { app, send } = service({ store: open().store() })
      const options = { blockedFields: [], middlewares: [], exportLimit: 10 }
      app.mount('/boards', createRouter({ model: Board, ...options }))
      const rows = [[{ pub: 'x', priv: 's3cret' }], []]
      const inside = { rows: [[['s3cret']]], pub: 'y' }
      const json = { secrets: [[424242]], rows, in: inside }
      const { record, headers } = await send('POST', '/boards', { json })
      const shown = { _id: record._id, rows: [[{ pub: 'x' }], []], in: { pub: 'y' } }
      expect(record).toEqual(shown)
      const path = headers.get('location') ?? ''
      expect((await send('GET', path)).record).toEqual(shown)
      expect((await send('PATCH', path, { json: { rows } })).record).toEqual(shown)
      expect((await send('GET', '/boards')).records).toEqual([shown])
      expect((await send('GET', '/boards?select=in,rows.pub')).records).toEqual([shown])
      for (const refused of ['secrets', 'in.rows', 'rows.priv']) {
        expect((await send('GET', `/boards?select=${refused}`)).status).toBe(400)
      }
      const file = await send('GET', '/boards', { headers: { accept: 'text/csv' } })
      expect(file.text).not.toMatch(/s3cret|424242/)
      const stored = app.store.collection(Board)
      expect(await stored.findById(String(record._id))).toEqual({ _id: record._id, ...json })
      expect(await stored.find({}, { select: ['secrets'] })).toEqual([
        { _id: record._id, secrets: [[424242]] },
      ])
    })

    test('goes with If-Match, and is refused after another change', async () => {
      const { send, path, whole } = await people({ prof })
      const tag = (await send('GET', path)).headers.get('etag') ?? ''
      const patch = (json: object) => send('PATCH', path, { json, headers: { 'if-match': tag } })
      expect((await patch({ prof: { pub: 'y' } })).status).toBe(200)
      expect((await patch({ prof: {} })).status).toBe(412)
      expect(await whole()).toMatchObject({ prof: { pub: 'y', priv: 'secret', old: [1] } })
    })
  })
}

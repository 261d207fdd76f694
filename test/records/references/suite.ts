/**
 * Enforced references, on any store: `ref()` with `onDelete`.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Fields,
  type Model,
  ref,
  type Store,
} from '../../../src/index.ts'
import { type Service, service } from '../service.ts'

const NOBODY = 'f'.repeat(24)

const Country = defineModel('RefCountry', { fields: { name: z.string() } })
const City = defineModel('RefCity', {
  fields: {
    name: z.string(),
    country: ref('RefCountry', { onDelete: 'restrict' }),
    twin: ref('RefCity', { onDelete: 'unset' }).optional(),
  },
  timestamps: true,
})
const Street = defineModel('RefStreet', {
  fields: { name: z.string(), city: ref('RefCity', { onDelete: 'cascade' }) },
})
const House = defineModel('RefHouse', {
  fields: { number: z.number(), street: ref('RefStreet', { onDelete: 'cascade' }) },
})
const Route = defineModel('RefRoute', {
  fields: {
    name: z.string(),
    cities: z.array(ref('RefCity', { onDelete: 'unset' })),
    stops: z
      .array(
        z.object({
          at: z.number(),
          from: ref('RefCity', { onDelete: 'unset' }).optional(),
          to: ref('RefCity', { onDelete: 'unset' }).nullable(),
        }),
      )
      .optional(),
    home: z.object({ city: ref('RefCity', { onDelete: 'unset' }).nullable() }).optional(),
  },
})
const Node = defineModel('RefNode', {
  fields: { name: z.string(), parent: ref('RefNode', { onDelete: 'cascade' }).optional() },
})

const MODELS: Readonly<Record<string, Model<never>>> = {
  countries: Country,
  cities: City,
  streets: Street,
  houses: House,
  routes: Route,
  nodes: Node,
} as never

/** An app with a router for each model, and short ways to write. */
function atlas(store: Store): Service & {
  made(path: string, json: Fields): Promise<string>
  count(path: string): Promise<number>
} {
  const served = service({ store })
  for (const [path, model] of Object.entries(MODELS)) {
    served.app.mount(
      `/${path}`,
      createRouter({ model, allowedFields: Object.keys(model.fields) as never, query: [] }),
    )
  }
  return {
    ...served,
    async made(path, json) {
      const { status, record, text } = await served.send('POST', `/${path}`, { json })
      expect(status, text).toBe(201)
      return String(record._id)
    },
    async count(path) {
      return (await served.send('GET', `/${path}`)).records.length
    },
  }
}

/** Registers the suite. */
export function references(name: string, open: () => Store): void {
  describe(`${name}: enforced references`, () => {
    test('an id that does not exist is a 400 that names the field, and nothing is stored', async () => {
      const { app, send, made, count } = atlas(open())
      const refused = await send('POST', '/cities', { json: { name: 'Ur', country: NOBODY } })
      expect(refused.status).toBe(400)
      expect(refused.body).toMatchObject({
        error: 'Invalid value for country.',
        fields: { country: 'Does not exist.' },
      })
      expect(await count('cities')).toBe(0)
      const country = await made('countries', { name: 'Sumer' })
      const city = await made('cities', { name: 'Ur', country })
      const changed = await send('PATCH', `/cities/${city}`, {
        json: { name: 'X', country: NOBODY },
      })
      expect([changed.status, changed.body.error]).toEqual([400, 'Invalid value for country.'])
      expect((await send('GET', `/cities/${city}`)).record).toMatchObject({ name: 'Ur', country })
      expect(
        (await send('PATCH', `/cities/${city}`, { json: { name: 'Uruk', country } })).status,
      ).toBe(200)
      const absent = await send('PATCH', `/cities/${NOBODY}`, { json: { country } })
      expect(absent.status).toBe(404)
      const several = await send('POST', '/routes', {
        json: {
          name: 'A',
          cities: [city, NOBODY],
          stops: [
            { at: 1, from: city, to: null },
            { at: 2, to: NOBODY },
          ],
        },
      })
      expect(several.body.error).toBe('Invalid value for cities.1, stops.1.to.')
      expect(several.body.fields).toEqual({
        'cities.1': 'Does not exist.',
        'stops.1.to': 'Does not exist.',
      })
      const cities = app.store.collection(City)
      await expect(cities.insert({ name: 'Y', country: NOBODY })).rejects.toThrow(
        'Invalid value for country.',
      )
      await expect(cities.updateWhere({}, { country: NOBODY })).rejects.toThrow(
        'Invalid value for country.',
      )
      expect(await cities.updateWhere({}, { country, name: 'Z' })).toBe(1)
      expect(await count('cities')).toBe(1)
    })

    test('a record may refer to itself, and to nothing', async () => {
      const { app, made } = atlas(open())
      const nodes = app.store.collection(Node)
      const _id = 'a'.repeat(24)
      await nodes.insert({ _id, name: 'root', parent: _id })
      const child = await made('nodes', { name: 'child', parent: _id })
      await made('nodes', { name: 'grandchild', parent: child })
      await made('nodes', { name: 'other' })
      expect(await nodes.delete(_id)).toBe(true)
      expect((await nodes.find()).map((node) => node.name)).toEqual(['other'])
    })

    test('restrict: a DELETE of a record that others refer to is a 409 and removes nothing', async () => {
      const { app, send, made, count } = atlas(open())
      const country = await made('countries', { name: 'Sumer' })
      const city = await made('cities', { name: 'Ur', country })
      const refused = await send('DELETE', `/countries/${country}`)
      expect(refused.status).toBe(409)
      expect(refused.body.error).toBe('Entry is still referenced by RefCity.')
      await expect(app.store.collection(Country).delete(country)).rejects.toMatchObject({
        status: 409,
      })
      expect(await count('countries')).toBe(1)
      expect((await send('DELETE', `/cities/${city}`)).status).toBe(200)
      expect((await send('DELETE', `/countries/${country}`)).status).toBe(200)
      expect((await send('DELETE', `/countries/${country}`)).status).toBe(404)
    })

    test('cascade removes what refers to the record, and what refers to that', async () => {
      const { send, made, count } = atlas(open())
      const country = await made('countries', { name: 'Sumer' })
      const [ur, uruk] = [
        await made('cities', { name: 'Ur', country }),
        await made('cities', { name: 'Uruk', country }),
      ]
      for (const city of [ur, uruk]) {
        for (const n of [1, 2]) {
          const street = await made('streets', { name: `s${n}`, city })
          for (const number of [1, 2, 3]) await made('houses', { number, street })
        }
      }
      expect([await count('streets'), await count('houses')]).toEqual([4, 12])
      expect((await send('DELETE', `/cities/${ur}`)).status).toBe(200)
      expect([await count('cities'), await count('streets'), await count('houses')]).toEqual([
        1, 2, 6,
      ])
      const streets = (await send('GET', '/streets')).records
      expect(new Set(streets.map(({ city }) => city))).toEqual(new Set([uruk]))
    })

    test('unset removes the field, leaves null, or takes the element from a list', async () => {
      const { clock, send, made } = atlas(open())
      const country = await made('countries', { name: 'Sumer' })
      const ur = await made('cities', { name: 'Ur', country })
      const uruk = await made('cities', { name: 'Uruk', country, twin: ur })
      const route = await made('routes', {
        name: 'A',
        cities: [ur, uruk, ur],
        stops: [
          { at: 1, from: ur, to: ur },
          { at: 2, from: uruk, to: uruk },
        ],
        home: { city: ur },
      })
      clock.at += 1000
      expect((await send('DELETE', `/cities/${ur}`)).status).toBe(200)
      const { record } = await send('GET', `/routes/${route}`)
      expect(record).toEqual({
        _id: route,
        name: 'A',
        cities: [uruk],
        stops: [
          { at: 1, to: null },
          { at: 2, from: uruk, to: uruk },
        ],
        home: { city: null },
      })
      const twin = (await send('GET', `/cities/${uruk}`)).record
      expect(twin.twin).toBeUndefined()
      expect(twin.updatedAt).toBe(new Date(clock.at).toISOString())
    })

    test('more than a thousand dependent records are a 409, a thousand go', {
      timeout: 120_000,
    }, async () => {
      const { app, send, made, count } = atlas(open())
      const country = await made('countries', { name: 'Sumer' })
      const city = await made('cities', { name: 'Ur', country })
      const streets = app.store.collection(Street)
      const first = await streets.insert({ name: 'first', city })
      for (let n = 0; n < 1000; n += 50) {
        await Promise.all(
          Array.from({ length: 50 }, (_, at) => streets.insert({ name: `s${n + at}`, city })),
        )
      }
      const refused = await send('DELETE', `/cities/${city}`)
      expect(refused.status).toBe(409)
      expect(refused.body.error).toBe('More than 1000 entries depend on this entry.')
      expect(await streets.count()).toBe(1001)
      await streets.delete(first._id)
      expect((await send('DELETE', `/cities/${city}`)).status).toBe(200)
      expect([await streets.count(), await count('cities')]).toEqual([0, 0])
    })

    test('without onDelete, nothing is checked and nothing else is written', async () => {
      const Loose = defineModel('RefLoose', { fields: { country: ref('RefCountry') } })
      const { app, send, made } = atlas(open())
      app.mount('/loose', createRouter({ model: Loose, allowedFields: ['country'], query: [] }))
      expect((await send('POST', '/loose', { json: { country: NOBODY } })).status).toBe(201)
      const country = await made('countries', { name: 'Sumer' })
      const loose = await made('loose', { country })
      expect((await send('DELETE', `/countries/${country}`)).status).toBe(200)
      expect((await send('GET', `/loose/${loose}`)).record).toMatchObject({ country })
    })
  })
}

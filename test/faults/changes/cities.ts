/**
 * The atlas's cities after a change of their model, and as they were stored before it.
 *
 * @module
 */

import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { City } from '../../../examples/atlas/models.ts'
import { type App, createApp, createRouter, defineModel, type Store } from '../../../src/index.ts'

const { name, population, capital, ...same } = City.fields as typeof City.fields & {
  readonly [Field in 'name' | 'population' | 'capital']: z.ZodType
}

const options = { timestamps: true, unique: ['geonameId'], collection: 'cities' } as const

/** The model that stored the cities: another name for the name, people counted in text, no capitals. */
export const Before = defineModel('City', {
  fields: { ...same, title: name, population: z.string() },
  ...options,
} as never)

/** The model of now. */
export const Now = defineModel('City', {
  fields: { ...same, name, population, capital: z.boolean().default(false) },
  ...options,
  indexes: ['-population', ['country', '-population']],
  renamed: { title: 'name' },
  convert: { population: Number },
} as never)

/** The store that `place` names: a file, or a URL of MongoDB. */
export function storeAt(place: string): Store {
  return place.startsWith('mongodb') ? mongoStore({ url: place }) : sqliteStore({ path: place })
}

/** The app of now over `place`. */
export function citiesAt(place: string): App {
  const app = createApp({ store: storeAt(place) })
  return app.mount(
    '/cities',
    createRouter({
      model: Now,
      allowedFields: ['name', 'population'],
      query: ['name'],
      sortableFields: ['population'],
      middlewares: [],
    } as never),
  )
}

import { createApp, createRouter, defineModel, ref } from 'fieldgate'
import { openapi } from 'fieldgate/openapi'
import * as z from 'zod'
import { memoryStore } from '../../examples/memory-store/store.ts'

const Country = defineModel('Country', {
  fields: { name: z.string().max(100), code: z.string().length(2) },
  unique: ['code'],
})
const City = defineModel('City', {
  fields: {
    name: z.string().max(100),
    country: ref('Country'),
    population: z.number().int().min(0),
  },
})
const Visit = defineModel('Visit', {
  fields: {
    city: ref('City'),
    day: z.iso.date(),
    stars: z.number().int().min(1).max(5),
    diary: z.string().max(500).optional(),
  },
  hidden: ['diary'],
})

export const app = createApp({ store: memoryStore(), basePath: '/try/api' })

app.mount(
  '/countries',
  createRouter({
    model: Country,
    allowedFields: ['name', 'code'],
    query: ['code'],
    search: ['name'],
    middlewares: [],
  }),
)
app.mount(
  '/cities',
  createRouter({
    model: City,
    allowedFields: ['name', 'country', 'population'],
    query: ['name', 'country', 'population'],
    expandable: ['country'],
    aggregates: { by: ['country'], of: ['population'] },
    middlewares: [],
  }),
)
app.mount(
  '/visits',
  createRouter({
    model: Visit,
    allowedFields: ['city', 'day', 'stars', 'diary'],
    query: ['stars'],
    expandable: ['city'],
    middlewares: [],
  }),
)
app.mount('/docs', openapi({ title: 'Playground', version: '1.0', script: '/try/scalar.js' }))

const countries = app.store.collection(Country)
const cities = app.store.collection(City)
const portugal = await countries.insert({ name: 'Portugal', code: 'PT' })
const spain = await countries.insert({ name: 'Spain', code: 'ES' })
await cities.insert({ name: 'Lisbon', country: portugal._id, population: 545796 })
await cities.insert({ name: 'Porto', country: portugal._id, population: 248769 })
await cities.insert({ name: 'Madrid', country: spain._id, population: 3460491 })

/**
 * Countries and cities on Deno, kept in MongoDB: a reference, and a search through it.
 *
 * In this repository `deno run -A --conditions=fieldgate-source examples/deno-mongodb.ts`. In your own project
 * `deno add npm:fieldgate npm:zod npm:mongodb`, copy this file, and run `deno run -A deno-mongodb.ts`. MONGODB_URL names
 * the database; by default it is on this machine.
 *
 *     curl localhost:3000/countries -H 'Content-Type: application/json' -d '{"code":"BR","name":"Brazil"}'
 *     curl 'localhost:3000/cities?s=brazil&sort=-population'
 *
 * @module
 */

import process from 'node:process'
import { createApp, createRouter, defineModel, ref } from 'fieldgate'
import { serve } from 'fieldgate/deno'
import { mongoStore } from 'fieldgate/mongodb'
import * as z from 'zod'

const Country = defineModel('Country', {
  fields: { code: z.string().length(2), name: z.string().min(1) },
  unique: ['code'],
})

const City = defineModel('City', {
  fields: {
    name: z.string().min(1),
    country: ref('Country'),
    population: z.number().int().min(0).optional(),
  },
  indexes: ['-population', ['country', '-population']],
})

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/atlas'
// MongoDB matches text with a scan, unless it keeps an index for searches.
const app = createApp({ store: mongoStore({ url, searchIndexes: true }) })

app.mount(
  '/countries',
  createRouter({
    model: Country,
    middlewares: [],
    query: ['code'],
    allowedFields: ['code', 'name'],
  }),
)
app.mount(
  '/cities',
  createRouter({
    model: City,
    middlewares: [],
    query: ['country'],
    // Finds cities by the name of their country, too.
    search: ['name', 'country.name'],
    sortableFields: ['population'],
    filterableFields: ['population'],
    allowedFields: ['name', 'country', 'population'],
    onGet: () => ({ populate: { path: 'country', select: ['code', 'name'] } }),
  }),
)

const served = await serve(app, { port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
console.log(`Cities on ${served.url}/cities`)

/**
 * Readings of sensors in DuckDB: an app over HTTP on a store of its own, with averages by day.
 *
 * In this repository `npm run example examples/duckdb-store/app.ts`. In your own project
 * `npm install fieldgate zod @duckdb/node-api`, copy this folder, and run `node app.ts`.
 *
 *     curl localhost:3000/readings -H 'Content-Type: application/json' \
 *          -d '{"sensor":"roof","celsius":3.5,"at":"2026-11-02T07:00:00Z"}'
 *     curl 'localhost:3000/readings?sensor=roof&sort=-at'
 *     curl -X QUERY localhost:3000/readings -H 'Content-Type: application/json' \
 *          -d '{"aggregate":{"count":true,"avg":["celsius"]},"by":["sensor","at:day"]}'
 *
 * @module
 */

import process from 'node:process'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { serve } from 'fieldgate/node'
import * as z from 'zod'
import { duckdbStore } from './store.ts'

const Reading = defineModel('Reading', {
  fields: { sensor: z.string().max(50), celsius: z.number(), at: z.date() },
  unique: [['sensor', 'at']],
})

const app = createApp({ store: await duckdbStore(process.env.DATABASE ?? 'readings.duckdb') })

app.mount(
  '/readings',
  createRouter({
    model: Reading,
    // Anybody may do all of it, which suits an example.
    middlewares: [],
    allowedFields: ['sensor', 'celsius', 'at'],
    filterableFields: ['sensor', 'celsius', 'at'],
    sortableFields: ['at', 'celsius'],
    search: ['sensor'],
    aggregates: { by: ['sensor', 'at:day'], of: ['celsius'] },
  }),
)

const { url } = await serve(app, { port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
console.log(`Readings on ${url}/readings`)

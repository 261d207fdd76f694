import process from 'node:process'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { diskFiles } from 'fieldgate/disk'
import { cors } from 'fieldgate/guards'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'

const City = defineModel('City', {
  fields: {
    name: z.string().min(1),
    country: z.string().length(2),
    population: z.int().optional(),
    photo: z.string().optional(),
  },
  indexes: ['country'],
})

const secret = process.env.APP_SECRET ?? 'a-secret-for-this-example-only-0123456789'

export const api = createApp({
  basePath: '/api',
  methodOverride: true,
  store: sqliteStore({ path: process.env.DATABASE ?? 'cities.db' }),
  files: diskFiles({ root: process.env.UPLOADS ?? 'uploads', secret }),
})
  .use(cors({ origins: ['https://app.example.com'] }))
  .mount(
    '/cities',
    createRouter({
      model: City,
      middlewares: [], // anyone may write: put guards here
      query: ['country', 'population'],
      allowedFields: ['name', 'country', 'population', 'photo'],
      upload: { fields: [{ name: 'photo' }], signUrls: 600 },
    }),
  )

if (process.env.NODE_ENV === 'production') {
  process.once('SIGTERM', () => {
    api.endStreams() // servers wait for responses that have no end
    setTimeout(() => api.close().finally(() => process.exit()), 5000).unref()
  })
}

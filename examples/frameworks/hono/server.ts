import process from 'node:process'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { api } from './api.ts'

const app = new Hono()
app.get('/', (context) => context.text('Cities'))
app.all('/api/*', (context) => {
  const clientAddress = getConnInfo(context).remote.address
  return api.handle(context.req.raw, undefined, { clientAddress })
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: process.env.HOST })

import process from 'node:process'
import { Elysia } from 'elysia'
import { api } from './api.ts'

new Elysia()
  .get('/', 'Cities')
  .all(
    '/api/*',
    ({ request, server }) =>
      api.handle(request, undefined, { clientAddress: server?.requestIP(request)?.address }),
    { parse: 'none' }, // the app reads the bodies itself, with its limits
  )
  .listen({ port: Number(process.env.PORT ?? 3000), hostname: process.env.HOST })

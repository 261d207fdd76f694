import process from 'node:process'
import { Elysia } from 'elysia'
import { api } from './api.ts'

new Elysia()
  .get('/', 'Cities')
  // 'none': the app reads the bodies itself, with its limits.
  .all('/api/*', ({ request }) => api.handle(request), { parse: 'none' })
  .listen({ port: Number(process.env.PORT ?? 3000), hostname: process.env.HOST })

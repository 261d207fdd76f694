import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard } from '../../src/index.ts'
import { service } from './service.ts'

const Tool = defineModel('OrderedTool', { fields: { name: z.string() } })

describe('requireRole before requireAuth is a start-up error', () => {
  it.each([
    ['in middlewares', (a, r) => ({ middlewares: [r, a] })],
    ['in access', (a, r) => ({ middlewares: [], access: { create: [r, a] } })],
    ['over both', (a, r) => ({ middlewares: [r], access: { create: a } })],
  ] as const satisfies [string, (auth: Guard, role: Guard) => object][])(
    '%s',
    async (_, options) => {
      const { app, auth } = await service()
      const given = options(auth.requireAuth, auth.requireRole('admin'))
      expect(() => app.mount('/tools', createRouter({ model: Tool, ...given }))).toThrow(
        /^(GET|POST) \/tools: requireRole comes before requireAuth, so it would refuse everyone\. Write \[auth\.requireAuth, auth\.requireRole\(…\)\]$/,
      )
    },
  )

  it('of a route of the app', async () => {
    const { app, auth } = await service()
    const guards = [auth.requireRole('admin'), auth.requireAuth] as const
    expect(() => app.get('/desk', ...guards, () => 1)).toThrow(
      'GET /desk: requireRole comes before',
    )
  })

  it('but not where a guard before it may find the caller', async () => {
    const { app, auth } = await service()
    const role = auth.requireRole('admin')
    const own: Guard = (request) => void Object.assign(request, { auth: { userId: 'a' } })
    app.get('/a', auth.requireAuth, role, () => 1)
    app.get('/b', own, role, auth.requireAuth, () => 1)
    app.get('/c', auth.optionalAuth, role, () => 1)
    app.get('/d', role, () => 1)
    app.use(auth.requireAuth)
    app.get('/e', role, auth.requireAuth, () => 1)
  })
})

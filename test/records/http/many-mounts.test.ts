import fc from 'fast-check'
import { IttyRouter } from 'itty-router'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { service } from '../service.ts'

const Thing = defineModel('MountedThing', { fields: { name: z.string() } })

const segments = ['a', 'b', 'a.b', '~', ':x', 'a-b']
/** A path; parameters get names of their own. */
const path = (parts: readonly string[], name = '') =>
  parts.map((part, at) => `/${part.replace(/:(\w+)/, `:$1${name}${at}`)}`).join('')
const mounts = fc
  .array(fc.constantFrom(...segments), { maxLength: 3 })
  .map((parts) => path(parts, 'm') || '/')
const routes = fc
  .array(fc.constantFrom('a', 'b', ':id', ':id?', '*', 'a.b'), { maxLength: 2 })
  .map((parts) => path(parts, 'r') || '/')
const asked = fc
  .array(fc.constantFrom('a', 'b', 'a.b', '~', 'c', 'a-b', '', '%61'), { maxLength: 5 })
  .map((parts) => path(parts) || '/')

test('design, App: of many mounts inside each other, the first route that matches responds', async () => {
  const table = fc.array(fc.record({ mount: mounts, path: routes }), {
    minLength: 1,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.array(asked, { minLength: 8, maxLength: 8 }),
      async (rows, paths) => {
        const { app } = service()
        // The router library tries all routes in order.
        const oracle = IttyRouter()
        for (const [index, row] of rows.entries()) {
          const name = String(index)
          const router = createRouter({ model: Thing, middlewares: [], access: NONE })
          router.get(row.path, () => new Response(name))
          app.mount(row.mount, router)
          oracle.get(`${row.mount}${row.path}`.replace(/\/+$/, '') || '/', () => name)
        }
        for (const target of paths) {
          const url = `http://localhost${target}`
          const response = await app.handle(new Request(url))
          const expected: unknown = await oracle.fetch({ method: 'GET', url })
          const found = response.status === 404 ? undefined : await response.text()
          expect([target, found]).toEqual([target, expected])
        }
      },
    ),
    { numRuns: runs(100) },
  )
})

const NONE = {
  list: false,
  query: false,
  create: false,
  read: false,
  update: false,
  remove: false,
} as const

import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Guard } from '../../src/index.ts'

const City = defineModel('HeadedCity', { fields: { name: z.string() } })

/** Asks as servers do whose Headers keep something in themselves, such as that of Nitro 3. */
async function ask(guard: Guard) {
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: sqliteStore(), logger }).mount(
    '/cities',
    createRouter({ model: City, middlewares: [guard] }),
  )
  onTestFinished(() => app.close())
  const request = new Request('http://x/cities', { headers: { 'X-User': 'ann' } })
  Object.assign(request.headers, { _node: {} })
  return (await app.handle(request)).status
}

it('lets guards pass a request whose headers have members of their platform', async () => {
  const users: unknown[] = []
  expect(await ask(({ headers }) => void users.push(headers.get('x-user')))).toBe(200)
  expect(users).toEqual(['ann'])
})

it('refuses members that a guard gives them', async () => {
  const writes: Guard = ({ headers }) => void Object.assign(headers, { role: 'admin' })
  expect(await ask(writes)).toBe(500)
})

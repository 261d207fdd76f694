import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { batch } from '../../src/batch/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshD1 } from './d1/databases.ts'
import { freshSchemas } from './postgres/schemas.ts'

const names = Array.from({ length: 18 }, (_, at) => `t${at}` as const)
const fields = {
  code: z.string().optional(),
  ...Object.fromEntries(names.map((name) => [name, z.string().optional()])),
}
const Long = defineModel('TooLong', { fields, unique: ['code'] })
/** An entry of the log has the record twice, so it is too large before the record is. */
const Logged = defineModel('TooLongLogged', { fields, unique: ['code'], changes: true })
const TOO_LARGE = 'The record is too large for the database.'

function serving(store: Store, model: typeof Long = Long) {
  const logged: string[] = []
  const error = (message: string) => void logged.push(message)
  const logger = { debug() {}, info() {}, warn() {}, error }
  const app = createApp({ store, logger, maxBodySize: 32_000_000, requestTimeoutMs: 0 })
  onTestFinished(() => app.close())
  app.mount(
    '/m',
    createRouter({ model, allowedFields: ['code', ...names], middlewares: [] } as never),
  )
  app.mount('/batch', batch())
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, ...(body && { headers, body: JSON.stringify(body) }) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    const { error: told, data } = (await response.json()) as {
      error?: string
      data?: { _id: string }
    }
    return { status: response.status, error: told, id: data?._id }
  }
  return { ask, logged }
}

/** A record grows by a megabyte with each PATCH, until the database takes no more; it begins with so many, or with half where it is logged. */
function grows(name: string, open: () => Store, begins: number): void {
  describe.each([Long, Logged])(`a record that outgrows ${name}, of $name`, (model) => {
    it('is a 413 that changes nothing, in a PATCH, a POST and a batch', async () => {
      const { ask, logged } = serving(open(), model)
      const text = 'x'.repeat(1_000_000)
      const first = names.slice(0, model === Logged ? begins / 2 : begins)
      const begun = Object.fromEntries(first.map((one) => [one, text]))
      const { id } = await ask('POST', '/m', { code: 'a', ...begun })
      const from = first.length
      let [answer, done] = [await ask('PATCH', `/m/${id}`, { [`t${from}`]: text }), from]
      while (answer.status === 200) {
        done += 1
        answer = await ask('PATCH', `/m/${id}`, { [`t${done}`]: text })
      }
      expect(answer).toMatchObject({ status: 413, error: TOO_LARGE })
      expect(done).toBeGreaterThan(from)
      const all = Object.fromEntries(names.map((one) => [one, text]))
      expect(await ask('POST', '/m', all)).toMatchObject({ status: 413, error: TOO_LARGE })
      const operations = [
        { method: 'POST', path: '/m', body: { code: 'b' } },
        { method: 'PATCH', path: `/m/${id}`, body: { [`t${done}`]: text } },
      ]
      expect((await ask('POST', '/batch', { operations })).status).toBe(413)
      const { body } = { body: await ask('GET', '/m?pageSize=1') }
      expect(body.status).toBe(200)
      expect((await ask('PATCH', `/m/${id}`, { code: 'c' })).status).toBe(200)
      expect(logged).toEqual([])
    })
  })
}

const d1 = await freshD1(2)
grows('D1', () => d1Store(d1()), 0)

await withService('mongo', ({ url }) => {
  // Of 16 MB: the way there is long, and all of it the same.
  grows('MongoDB', () => mongoStore({ url, database: `large-${crypto.randomUUID()}` }), 12)
})

await withService('postgres', ({ url }) => {
  it('a unique value that an index of PostgreSQL cannot hold is a 413', async () => {
    const { ask } = serving(postgresStore({ url, schema: freshSchemas(url)() }))
    const code = Array.from({ length: 3000 }, () => Math.random().toString(36)[3]).join('')
    expect(await ask('POST', '/m', { code })).toMatchObject({ status: 413, error: TOO_LARGE })
    expect((await ask('POST', '/m', { code: 'a' })).status).toBe(201)
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterEach, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

const Note = defineModel('SharesNote', { fields: { text: z.string().max(99) }, unique: ['text'] })
const Held = defineModel('SharesHeld', { fields: { name: z.string() }, collection: 'held' })

await withService('postgres', ({ url }) => {
  const newSchema = freshSchemas(url)
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  /** An app whose table `held` another program keeps locked until `release` is called. */
  async function serving(options: object, max: number) {
    const schema = newSchema()
    const quiet = () => {}
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    const app = createApp({ store: postgresStore({ url, schema, max }), logger, ...options })
    ends.push(() => app.close())
    app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'], middlewares: [] }))
    app.mount(
      '/held',
      createRouter({ model: Held, query: ['name'], search: ['name'], middlewares: [] }),
    )
    await app.ready()
    const other = postgres(url, { max: 2, onnotice: quiet })
    const gate = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = other.begin(async (transaction) => {
      await transaction.unsafe(`LOCK TABLE "${schema}".held IN ACCESS EXCLUSIVE MODE`)
      locked.resolve()
      await gate.promise
    })
    ends.unshift(async () => {
      gate.resolve()
      await holding
      await other.end()
    })
    await locked.promise
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method, ...(body && { headers, body: JSON.stringify(body) }) }
      const response = await app.handle(new Request(`http://localhost${path}`, init))
      const { data } = (await response.json()) as { data?: { _id: string } }
      return { status: response.status, id: data?._id }
    }
    const waiting = async () => {
      const rows = await other`SELECT query FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE ${`%"${schema}"."held"%`}`
      return rows.length
    }
    return { ask, waiting, release: gate.resolve }
  }

  it.each([10, 4, 2])(
    'lists, counts and searches that wait leave connections to everything else, with max %i',
    async (max) => {
      const { ask, release } = await serving({}, max)
      const paths = ['/held', '/held?name=a&page=1', '/held?s=abc']
      let answered = 0
      const lists = Array.from({ length: 30 }, async (_, at) => {
        const { status } = await ask('GET', paths[at % paths.length] ?? '')
        answered += 1
        return status
      })
      for (let round = 0; round < 5; round += 1) {
        const { status, id } = await ask('POST', '/notes', { text: `${round}` })
        expect(status).toBe(201)
        expect((await ask('GET', `/notes/${id}`)).status).toBe(200)
        expect((await ask('PATCH', `/notes/${id}`, { text: `${round} again` })).status).toBe(200)
        expect((await ask('DELETE', `/notes/${id}`)).status).toBe(200)
      }
      expect(answered).toBe(0)
      release()
      expect(new Set(await Promise.all(lists))).toEqual(new Set([200]))
    },
  )

  it('a list whose request is over ends in the database too', async () => {
    const { ask, waiting } = await serving({ requestTimeoutMs: 300 }, 10)
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('GET', '/held')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    for (let looks = 0; (await waiting()) > 0; looks += 1) {
      expect(looks).toBeLessThan(100)
      await pause(20)
    }
    // Connections of statements that were ended serve again.
    const notes = await Promise.all(Array.from({ length: 20 }, () => ask('GET', '/notes')))
    expect(new Set(notes.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

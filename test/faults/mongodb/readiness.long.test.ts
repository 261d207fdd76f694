import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { health } from '../../../src/health/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../../src/index.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'
import { withService } from '../../services/shared.ts'

const UNAVAILABLE = { status: 'unavailable', checks: { store: 'unavailable' } }

/** An app on the database at `url`, whose checks may take a second. */
function opened(url: string): App {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const store = mongoStore({ url, database: `ready-${crypto.randomUUID()}` })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  return createApp({ store, logger })
    .mount('/notes', createRouter({ model: Note, middlewares: [] }))
    .mount('/', health({ deadlineMs: 1000 }))
}

async function ask(app: App, path: string): Promise<{ status: number; body: unknown; ms: number }> {
  const before = performance.now()
  const response = await app.handle(new Request(`http://localhost${path}`))
  const body: unknown = await response.json()
  return { status: response.status, body, ms: performance.now() - before }
}

await withService('mongod', () => {
  describe('/readyz on MongoDB', () => {
    let set: ReplicaSet
    let app: App

    beforeAll(async () => {
      set = await startReplicaSet(1)
      app = opened(set.url)
    })
    afterAll(async () => {
      await app.close()
      await set.stop()
    })

    const isReady = () => ask(app, '/readyz').then(({ status }) => status)
    const ready = () => expect.poll(isReady, { timeout: 120_000 }).toBe(200)

    it('is a 503 within the deadline while the database hangs, and a 200 afterwards', async () => {
      await ready()
      const [member] = set.members
      member?.signal('SIGSTOP')
      try {
        // A signal takes a moment to stop all threads.
        await expect.poll(isReady, { timeout: 120_000 }).toBe(503)
        const { status, body, ms } = await ask(app, '/readyz')
        expect([status, body]).toEqual([503, UNAVAILABLE])
        expect(ms).toBeLessThan(15_000)
        expect((await ask(app, '/healthz')).status).toBe(200)
      } finally {
        member?.signal('SIGCONT')
      }
      await ready()
    })

    it('is a 503 while the database is gone, for an app that starts then too', async () => {
      await ready()
      const [member] = set.members
      member?.signal('SIGKILL')
      await expect.poll(isReady, { timeout: 120_000 }).toBe(503)
      const late = opened(set.url)
      try {
        expect(await ask(late, '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
        const { status, body, ms } = await ask(late, '/readyz')
        expect([status, body]).toEqual([503, UNAVAILABLE])
        expect(ms).toBeLessThan(15_000)
        await member?.restart()
        await ready()
        const isLateReady = () => ask(late, '/readyz').then(({ status }) => status)
        await expect.poll(isLateReady, { timeout: 120_000 }).toBe(200)
      } finally {
        await late.close()
      }
    }, 600_000)
  })
})

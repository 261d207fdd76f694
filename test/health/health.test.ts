import fs, { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { health } from '../../src/health/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import type { FileStore } from '../../src/ports/services/files.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { observedApp } from '../observing/observed.ts'

const hanging = (): Promise<never> => new Promise(() => {})

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'fieldgate-health-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return join(made, 'files')
}

const filesIn = (root: string) => diskFiles({ root, secret: 'x'.repeat(32) })

/** A store whose start-up fails until it is told to succeed. */
function late(): { store: Store; arrive(): void } {
  const store = sqliteStore()
  let isThere = false
  return {
    store: {
      ...store,
      async prepare(schemas) {
        if (!isThere) throw new StoreUnavailable('connect ECONNREFUSED')
        await store.prepare(schemas)
      },
    },
    arrive() {
      isThere = true
    },
  }
}

/** A store whose reads hang. */
function stuck(): Store {
  const store = sqliteStore()
  return {
    ...store,
    collection: (schema) => ({ ...store.collection(schema), find: hanging }),
  }
}

describe('/healthz', () => {
  it('says that the process is alive, whatever it depends on', async () => {
    const { app, ask } = observedApp({ store: late().store })
    app.mount('/', health())
    const response = await ask('/healthz')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('{"status":"ok"}')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect((await ask('/notes')).status).toBe(503)
  })

  it('answers HEAD without a body, OPTIONS with Allow, and no other method', async () => {
    const { app, ask } = observedApp()
    app.mount('/', health())
    for (const path of ['/healthz', '/readyz']) {
      const head = await ask(path, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect((await ask(path, { method: 'OPTIONS' })).headers.get('allow')).toBe('GET, HEAD')
      expect((await ask(path, { method: 'POST' })).status).toBe(405)
    }
  })

  it('comes before guards, and before a router that takes every path', async () => {
    const app = createApp({ store: sqliteStore() })
    app.use(() => new Response('', { status: 401 }))
    const Thing = defineModel('Thing', { fields: { name: z.string() } })
    app.mount('/', createRouter({ model: Thing }))
    app.mount('/', health())
    const statuses = ['/healthz', '/readyz', '/other'].map(async (path) => {
      const { status } = await app.handle(new Request(`http://localhost${path}`))
      return status
    })
    expect(await Promise.all(statuses)).toEqual([200, 200, 401])
  })

  it('is where it is mounted', async () => {
    const { app, ask } = observedApp()
    app.mount('/internal', health())
    expect((await ask('/internal/healthz')).status).toBe(200)
    expect((await ask('/healthz')).status).toBe(404)
  })
})

describe('/readyz', () => {
  it('leaves out what is not configured', async () => {
    const { app, ask } = observedApp()
    app.mount('/', health())
    const response = await ask('/readyz')
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('{"status":"ok","checks":{"store":"ok"}}')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('counts a folder of files as ready while its disk is full, and not without rights', async () => {
    const { app, ask } = observedApp({ files: filesIn(await folder()) })
    app.mount('/', health())
    expect((await ask('/readyz')).status).toBe(200)
    const { mkdtemp: own } = fs
    onTestFinished(() => made(own))
    const made = (mkdtemp: unknown) => {
      Object.assign(fs, { mkdtemp })
      syncBuiltinESMExports()
    }
    for (const [code, status] of [
      ['ENOSPC', 200],
      ['EACCES', 503],
    ] as const) {
      made(() => Promise.reject(Object.assign(new Error(code), { code })))
      expect([code, (await ask('/readyz')).status]).toEqual([code, status])
    }
  })

  it('checks store, cache and files', async () => {
    const { app, ask } = observedApp({ cache: memoryCache(), files: filesIn(await folder()) })
    app.mount('/', health())
    const response = await ask('/readyz')
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'ok', checks: { store: 'ok', cache: 'ok', files: 'ok' } },
    ])
  })

  it('is ready for an app without models too', async () => {
    const app = createApp({ store: sqliteStore() }).mount('/', health())
    expect((await app.handle(new Request('http://localhost/readyz'))).status).toBe(200)
  })

  it('is a 503 until start-up has succeeded, which each probe tries', async () => {
    const { store, arrive } = late()
    const { app, ask, said } = observedApp({ store })
    app.mount('/', health())
    for (let probes = 0; probes < 5; probes += 1) {
      const response = await ask('/readyz')
      expect([response.status, await response.json()]).toEqual([
        503,
        { status: 'unavailable', checks: { store: 'unavailable' } },
      ])
    }
    expect(said('not ready')[0]).toEqual([
      'error',
      'not ready',
      { requestId: expect.any(String), check: 'store', error: 'connect ECONNREFUSED' },
    ])
    arrive()
    expect((await ask('/readyz')).status).toBe(200)
  })

  it('logs one line a second for each cause, however many probes there are', async () => {
    const { app, ask, said } = observedApp({ store: late().store })
    app.mount('/', health())
    const before = performance.now()
    for (let probes = 0; probes < 20; probes += 1) await ask('/readyz')
    const seconds = (performance.now() - before) / 1000
    expect(said('not ready').length).toBeLessThanOrEqual(1 + seconds)
  })

  it('gives each check its deadline, all at the same time', async () => {
    const cache = { get: hanging, set: hanging }
    const files = { ...filesIn(await folder()), ping: hanging }
    const { app, ask, said } = observedApp({ store: stuck(), cache, files })
    app.mount('/', health({ deadlineMs: 1000 }))
    const before = performance.now()
    const response = await ask('/readyz')
    const ms = performance.now() - before
    expect([response.status, await response.json()]).toEqual([
      503,
      {
        status: 'unavailable',
        checks: { store: 'unavailable', cache: 'unavailable', files: 'unavailable' },
      },
    ])
    expect(ms).toBeGreaterThan(990)
    expect(ms).toBeLessThan(2900)
    expect(said('not ready').map(([, , { error }]) => error)).toEqual([
      'the store did not respond within 1000 ms',
      'the cache did not respond within 1000 ms',
      'the files did not respond within 1000 ms',
    ])
  })

  it('names what is out, and that alone', async () => {
    const cache = { get: () => Promise.reject(new Error('redis is out')), set: hanging }
    const { app, ask } = observedApp({ cache })
    app.mount('/', health())
    const response = await ask('/readyz')
    const text = await response.text()
    expect([response.status, text]).toEqual([
      503,
      '{"status":"unavailable","checks":{"store":"ok","cache":"unavailable"}}',
    ])
  })

  it('is a 503 where the folder of the files cannot be used', async () => {
    const root = await folder()
    await writeFile(root, 'a file, no folder')
    const { app, ask } = observedApp({ files: filesIn(root) })
    app.mount('/', health())
    expect(await (await ask('/readyz')).json()).toMatchObject({
      checks: { store: 'ok', files: 'unavailable' },
    })
  })

  it('asks a file store without ping for a list', async () => {
    const { ping: _, ...files } = filesIn(await folder())
    const listed: string[] = []
    const { app, ask } = observedApp({ files: listing(files, listed) })
    app.mount('/', health())
    expect((await ask('/readyz')).status).toBe(200)
    expect(listed).toEqual(['fieldgate-ready/'])
  })

  it('is a 503 from the moment when the app begins to close, while /healthz is still 200', async () => {
    const { app, ask } = observedApp()
    app.mount('/', health())
    expect((await ask('/readyz')).status).toBe(200)
    const closing = app.close()
    expect((await ask('/readyz')).status).toBe(503)
    await closing
    expect((await ask('/readyz')).status).toBe(503)
    expect((await ask('/healthz')).status).toBe(200)
  })
})

describe('health', () => {
  it.each([
    [{ deadlineMs: 0 }, "health: 'deadlineMs' must be a whole number of at least 1"],
    [{ deadline: 5 }, "health: unknown option 'deadline'"],
  ])('%j is refused', (options, why) => {
    expect(() => health(options as object)).toThrow(why)
  })
})

function listing(files: FileStore, listed: string[]): FileStore {
  return {
    ...files,
    list(prefix) {
      listed.push(prefix)
      return files.list(prefix)
    },
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../../src/index.ts'

const Note = defineModel('Note', { fields: { text: z.string() } })

/** The longest that anything may hold up everything else, in milliseconds: who waits for the lock in place waits for ten seconds. */
const LONGEST_PAUSE_MS = 2000

describe("another process holds the database's lock", () => {
  let folder: string
  let app: App
  let other: DatabaseSync
  const lines: { message: string; details: Record<string, unknown> }[] = []

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fieldgate-lock-'))
    const path = join(folder, 'notes.db')
    const quiet = () => {}
    const error = (message: string, details = {}) => lines.push({ message, details })
    const logger = { debug: quiet, info: quiet, warn: quiet, error }
    app = createApp({ store: sqliteStore({ path }), logger })
    app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'], middlewares: [] }))
    await app.ready()
    other = new DatabaseSync(path)
    lines.length = 0
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    if (other.isOpen) other.close()
    await app.close()
    await rm(folder, { recursive: true, force: true })
  })

  const create = async (text: string) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify({ text }) }
    const response = await app.handle(new Request('http://localhost/notes', init))
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const count = async () => {
    const response = await app.handle(new Request('http://localhost/notes'))
    return [response.status, ((await response.json()) as { data: unknown[] }).data.length]
  }

  it('writes wait for it, in their order, and hold up nobody', async () => {
    await create('before')
    other.exec('BEGIN IMMEDIATE')
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const done: string[] = []
    const writes = Array.from({ length: 40 }, (_, number) =>
      create(`${number}`).then(({ status }) => done.push(`${number}: ${status}`)),
    )
    for (let read = 0; read < 20; read += 1) {
      expect(await count()).toEqual([200, 1])
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(done).toEqual([])
    delay.disable()
    expect(delay.max / 1e6).toBeLessThan(LONGEST_PAUSE_MS)
    other.exec('COMMIT')
    await Promise.all(writes)
    expect(done).toEqual(Array.from({ length: 40 }, (_, number) => `${number}: 201`))
    expect(await count()).toEqual([200, 41])
  })

  it('a write that waits too long is a 503, writes nothing, and is one line in the log', async () => {
    other.exec('BEGIN IMMEDIATE')
    const writes = ['a', 'b', 'c', 'd'].map(create)
    expect(await count()).toEqual([200, 0])
    // lock-runtimes waits for the real clock.
    const later = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => later() + 10_000)
    const answers = await Promise.all(writes)
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
      expect(body).toEqual({
        success: false,
        error: 'The service is unavailable. Try again shortly.',
        requestId: headers.get('x-request-id'),
      })
    }
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      message: 'service unavailable',
      details: { status: 503, error: 'the database cannot be used: database is locked' },
    })
    other.exec('COMMIT')
    expect((await create('after')).status).toBe(201)
    expect(await count()).toEqual([200, 1])
  })

  it('an app that starts waits for it, and closes after what was asked for', async () => {
    other.exec('BEGIN IMMEDIATE')
    const store = sqliteStore({ path: join(folder, 'notes.db') })
    const second = createApp({ store, logger: { debug() {}, info() {}, warn() {}, error() {} } })
    const Other = defineModel('Other', { fields: { text: z.string() } })
    second.mount('/others', createRouter({ model: Other, middlewares: [] }))
    const ready = second.ready()
    const write = create('before the end')
    const closed = new Promise((resolve) => setTimeout(resolve, 100)).then(() => app.close())
    setTimeout(() => other.exec('COMMIT'), 300)
    expect((await write).status).toBe(201)
    await Promise.all([ready, closed])
    await second.close()
  })
})

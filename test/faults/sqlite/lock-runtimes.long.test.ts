import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { type NotesProcess, startNotes } from '../notes/process.ts'

const headers = { 'content-type': 'application/json' }

describe.each(Object.keys(RUNTIMES))("%s: another process holds the database's lock", (runtime) => {
  let folder: string
  let path: string
  let server: NotesProcess
  let other: DatabaseSync

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fieldgate-lock-'))
    path = join(folder, 'notes.db')
    server = await startNotes({ store: path }, [], runtime)
  })
  afterAll(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    other = new DatabaseSync(path)
  })
  afterEach(() => other.close())

  const ask = async (method: string, at = '', body: object = {}) => {
    const sent = method === 'GET' ? {} : { headers, body: JSON.stringify(body) }
    const response = await fetch(`${server.url}/notes${at}`, { method, ...sent })
    const { data, error } = (await response.json()) as { data?: { _id: string }; error?: string }
    return { status: response.status, retry: response.headers.get('retry-after'), data, error }
  }
  const create = () => ask('POST', '', { label: 'a', n: 1 })

  it('every kind of write waits for it, and reads do not', async () => {
    const [changed, removed] = [await create(), await create()]
    other.exec('BEGIN IMMEDIATE')
    let isFree = false
    const early: unknown[] = []
    const writes = [
      create(),
      ask('PATCH', `/${changed.data?._id}`, { n: 2 }),
      ask('DELETE', `/${removed.data?._id}`),
    ].map(async (write) => {
      const { status } = await write
      if (!isFree) early.push(status)
      return status
    })
    // By the time that thirty reads were answered, a write that does not wait would have been too.
    for (let read = 0; read < 30; read += 1) expect((await ask('GET')).status).toBe(200)
    expect(early).toEqual([])
    isFree = true
    other.exec('COMMIT')
    expect(await Promise.all(writes)).toEqual([201, 200, 200])
  })

  it('a write that waits too long is a 503, and one after it is written', async () => {
    other.exec('BEGIN IMMEDIATE')
    for (const answer of await Promise.all([create(), create()])) {
      expect(answer).toMatchObject({
        status: 503,
        retry: '5',
        error: 'The service is unavailable. Try again shortly.',
      })
    }
    other.exec('COMMIT')
    expect((await create()).status).toBe(201)
  })

  it('two processes that write to one database refuse nothing', async () => {
    const second = await startNotes({ store: path }, [], runtime)
    try {
      const write = async (url: string) => {
        const body = JSON.stringify({ label: 'a', n: 1 })
        const response = await fetch(`${url}/notes`, { method: 'POST', headers, body })
        await response.arrayBuffer()
        return response.status
      }
      const statuses: number[] = []
      const writer = async (url: string) => {
        for (let count = 0; count < 25; count += 1) statuses.push(await write(url))
      }
      await Promise.all(
        [server.url, second.url].flatMap((url) => [1, 2, 3, 4].map(() => writer(url))),
      )
      expect(statuses.filter((status) => status !== 201)).toEqual([])
      expect(statuses.length).toBe(200)
    } finally {
      await second.kill()
    }
  })
})

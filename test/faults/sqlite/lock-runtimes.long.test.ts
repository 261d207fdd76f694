import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { type NotesProcess, startNotes } from '../notes/process.ts'

const headers = { 'content-type': 'application/json' }

const runtimes = Object.keys(RUNTIMES)
let home: string
const servers = new Map<string, NotesProcess>()
const pathOf = (runtime: string) => join(home, `${runtime}.db`)

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fieldgate-lock-'))
  const start = async (runtime: string) =>
    servers.set(runtime, await startNotes({ store: pathOf(runtime) }, [], runtime))
  await Promise.all(runtimes.map(start))
})
afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.kill()))
  await rm(home, { recursive: true, force: true })
})

async function ask(runtime: string, method: string, at = '', body: object = {}) {
  const sent = method === 'GET' ? {} : { headers, body: JSON.stringify(body) }
  const response = await fetch(`${servers.get(runtime)?.url}/notes${at}`, { method, ...sent })
  const { data, error } = (await response.json()) as { data?: { _id: string }; error?: string }
  return { status: response.status, retry: response.headers.get('retry-after'), data, error }
}
const create = (runtime: string) => ask(runtime, 'POST', '', { label: 'a', n: 1 })

/** What `work` resolves to while another process holds the lock. */
async function locked<T>(runtime: string, work: (free: () => void) => Promise<T>): Promise<T> {
  const other = new DatabaseSync(pathOf(runtime))
  try {
    other.exec('BEGIN IMMEDIATE')
    return await work(() => other.exec('COMMIT'))
  } finally {
    other.close()
  }
}

describe.each(runtimes)("%s: another process holds the database's lock", (runtime) => {
  it('every kind of write waits for it, and reads do not', async () => {
    const [changed, removed] = [await create(runtime), await create(runtime)]
    await locked(runtime, async (free) => {
      let isFree = false
      const early: unknown[] = []
      const writes = [
        create(runtime),
        ask(runtime, 'PATCH', `/${changed.data?._id}`, { n: 2 }),
        ask(runtime, 'DELETE', `/${removed.data?._id}`),
      ].map(async (write) => {
        const { status } = await write
        if (!isFree) early.push(status)
        return status
      })
      // By the time that thirty reads were answered, a write that does not wait would have been too.
      for (let read = 0; read < 30; read += 1) expect((await ask(runtime, 'GET')).status).toBe(200)
      expect(early).toEqual([])
      isFree = true
      free()
      expect(await Promise.all(writes)).toEqual([201, 200, 200])
    })
  })

  it('two processes that write to one database refuse nothing', async () => {
    const second = await startNotes({ store: pathOf(runtime) }, [], runtime)
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
      const urls = [servers.get(runtime)?.url ?? '', second.url]
      await Promise.all(urls.flatMap((url) => [1, 2, 3, 4].map(() => writer(url))))
      expect(statuses.filter((status) => status !== 201)).toEqual([])
      expect(statuses.length).toBe(200)
    } finally {
      await second.kill()
    }
  })
})

it('on each runtime a write that waits too long is a 503, and one after it is written', async () => {
  // They wait for ten seconds, all at the same time.
  const tooLong = async (runtime: string) => {
    const answers = await locked(runtime, () => Promise.all([create(runtime), create(runtime)]))
    return [...answers, await create(runtime)].map(({ data: _, ...answer }) => answer)
  }
  const refused = {
    status: 503,
    retry: '5',
    error: 'The service is unavailable. Try again shortly.',
  }
  const written = { status: 201, retry: null, error: undefined }
  const answers = [refused, refused, written]
  expect(await Promise.all(runtimes.map(tooLong))).toEqual(runtimes.map(() => answers))
})

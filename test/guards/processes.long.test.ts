/** Guards of two processes that share a cache or a store. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { restBridge } from '../contract/cache/rest-bridge.ts'
import { startGuarded } from '../faults/guards/process.ts'
import type { GuardedOptions } from '../faults/guards/server.ts'
import { withService } from '../services/shared.ts'

const LIMIT = 40
/** Requests with one key. */
const REPEATS = 200

/** The addresses of two servers over one file. */
async function pair(options: Omit<GuardedOptions, 'store'> = {}): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-guards-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const start = async () => {
    const server = await startGuarded({ ...options, store: join(folder, 'notes.db') })
    onTestFinished(() => server.kill())
    return server.url
  }
  return [await start(), await start()]
}

/** Sends `count` requests, 50 at the same time: more at once could be too many for a slow machine. */
async function sendAll<T>(count: number, send: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const client = async () => {
    while (next < count) {
      next += 1
      results.push(await send(next))
    }
  }
  await Promise.all(Array.from({ length: 50 }, client))
  return results
}

/** How many of `count` requests of one client, sent to the servers in turn, are let through. */
async function letThrough(urls: readonly string[], count: number): Promise<number> {
  const headers = { 'X-Client': crypto.randomUUID() }
  const statuses = await sendAll(count, async (at) => {
    const response = await fetch(`${urls[at % urls.length]}/limited`, { headers })
    await response.text()
    return response.status
  })
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([])
  return statuses.filter((status) => status === 200).length
}

/** Sends many requests with one key to the servers in turn. */
async function writesOnce(urls: readonly string[]): Promise<void> {
  const key = crypto.randomUUID()
  const send = async (at: number): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${urls[at % urls.length]}/notes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `"${key}"` },
      body: JSON.stringify({ label: key }),
    })
    const text = await response.text()
    // On a busy machine the cache may take too long. The client is told to try again, and the key is for that.
    return response.status === 503 ? send(at) : { status: response.status, text }
  }
  const replies = await sendAll(REPEATS, send)
  expect(replies.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
  const created = replies.filter(({ status }) => status === 201)
  expect(new Set(created.map(({ text }) => text)).size).toBe(1)
  expect(replies.at(-1)?.status).toBe(201)
  const stored = await fetch(`${urls[0]}/notes?label=${key}`)
  expect(((await stored.json()) as { data: unknown[] }).data).toHaveLength(1)
}

describe('two processes', () => {
  it('count apart in memory', async () => {
    const urls = await pair({ cache: 'memory', limit: LIMIT })
    expect(await letThrough(urls, 3 * LIMIT)).toBe(2 * LIMIT)
  })

  it('write once for many requests with one key in the store', async () => {
    await writesOnce(await pair())
  })
})

await withService('valkey', ({ url }) => {
  it('two processes with Valkey count together, and write once for many requests with one key', async () => {
    const urls = await pair({ cache: url, limit: LIMIT })
    expect(await letThrough(urls, 3 * LIMIT)).toBe(LIMIT)
    await writesOnce(urls)
  })

  it('two processes with Upstash count together, and write once for many requests with one key', async () => {
    const bridge = await restBridge(url)
    onTestFinished(() => bridge.close())
    const { url: at, token } = bridge
    const urls = await pair({ cache: { url: at, token }, limit: LIMIT })
    expect(await letThrough(urls, 3 * LIMIT)).toBe(LIMIT)
    await writesOnce(urls)
  })
})

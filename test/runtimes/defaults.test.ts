/** The times and exit codes of docs/operations.md, as `serve` has them by default. */

import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Arrivals } from '../../adapters/runtimes/arrivals.ts'
import { type NodeServeOptions, serve } from '../../adapters/runtimes/node.ts'
import { served } from '../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp } from '../../src/index.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

describe('serve on Node', () => {
  /** The server of node:http that `serve` makes. */
  async function made(options: NodeServeOptions = {}): Promise<http.Server | undefined> {
    const { createServer } = http
    const all: http.Server[] = []
    http.createServer = ((...given: Parameters<typeof createServer>) => {
      const server = createServer(...given)
      all.push(server)
      return server
    }) as typeof createServer
    syncBuiltinESMExports()
    try {
      const app = createApp({ store: sqliteStore(), logger: quiet })
      const { close } = await serve(app, {
        port: 0,
        hostname: '127.0.0.1',
        signals: false,
        ...options,
      })
      await close()
    } finally {
      http.createServer = createServer
      syncBuiltinESMExports()
    }
    return all[0]
  }

  it('gives clients 15 s for headers, 300 s for a request, and 6 s between requests', async () => {
    const server = await made()
    const buffer = (server as unknown as { keepAliveTimeoutBuffer?: number }).keepAliveTimeoutBuffer
    expect([server?.headersTimeout, server?.requestTimeout]).toEqual([15_000, 300_000])
    expect((server?.keepAliveTimeout ?? 0) + (buffer ?? 1000)).toBe(6000)
  })

  it('keeps connections for as long as a load balancer does, if you say so', async () => {
    expect((await made({ keepAliveTimeout: 65_000 }))?.keepAliveTimeout).toBe(65_000)
    await expect(made({ keepAliveTimeout: -1 })).rejects.toThrow(`'keepAliveTimeout' must be`)
  })
})

describe('a server that closes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  const never = () => new Promise<never>(() => {})
  /** A server whose requests never end; `left` has how long idle connections may stay. */
  async function stuck(options: { graceMs?: number }, close = async () => {}) {
    const events: unknown[] = []
    const app = { ready: async () => {}, close } as unknown as App
    const running = await served(
      {
        ...{ url: 'http://127.0.0.1:1', app },
        work: { waitUntil() {}, settled: async () => {} },
        stop: (leaveMs) => {
          events.push(leaveMs)
          return never()
        },
        cut: () => events.push('cut'),
      },
      { signals: false, ...options },
    )
    let isClosed = false
    const closing = running.close().then(() => {
      isClosed = true
    })
    return { events, closing, isClosed: () => isClosed }
  }

  it('waits 25 s for requests, and keeps idle connections for half a second', async () => {
    const { events, closing } = await stuck({})
    await vi.advanceTimersByTimeAsync(24_900)
    expect(events).toEqual([500])
    await vi.advanceTimersByTimeAsync(200)
    expect(events).toEqual([500, 'cut'])
    await closing
  })

  it('keeps idle connections for at most half of graceMs', async () => {
    const { events, closing } = await stuck({ graceMs: 600 })
    await vi.advanceTimersByTimeAsync(600)
    expect(events).toEqual([300, 'cut'])
    await closing
  })

  it('gives its stores 3 s to close', async () => {
    const { isClosed } = await stuck({ graceMs: 600 }, never)
    await vi.advanceTimersByTimeAsync(600 + 2900)
    expect(isClosed()).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(isClosed()).toBe(true)
  })
})

describe('a signal', () => {
  const NAMES = ['SIGTERM', 'SIGINT'] as const

  /** Servers that `ends` end, in a process of their own as far as signals go. */
  async function signalled(ends: readonly (() => Promise<boolean>)[]) {
    const before = NAMES.map((name) => process.listeners(name))
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never)
    vi.resetModules()
    const { endOnSignals } = await import('../../adapters/runtimes/signals.ts')
    for (const end of ends) endOnSignals(end)
    const [own] = process.listeners('SIGTERM').filter((each) => !before[0]?.includes(each))
    return {
      codes: () => exit.mock.calls.map(([code]) => code),
      signal: () => own?.('SIGTERM'),
      restore() {
        exit.mockRestore()
        for (const name of NAMES) if (own) process.off(name, own)
      },
    }
  }

  it('ends every server of the process, and then the process with 0', async () => {
    const ended: string[] = []
    const end = (name: string) => async () => {
      ended.push(name)
      return true
    }
    const { signal, codes, restore } = await signalled([end('one'), end('other')])
    try {
      signal()
      await expect.poll(codes).toEqual([0])
      expect(ended).toEqual(['one', 'other'])
    } finally {
      restore()
    }
  })

  it('ends the process with 1 if one server was not done in time, and with 130 if it comes twice', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { signal, codes, restore } = await signalled([async () => true, () => promise])
    try {
      signal()
      signal()
      expect(codes()).toEqual([130])
      resolve(false)
      await expect.poll(codes).toEqual([130, 1])
    } finally {
      restore()
    }
  })
})

describe('requests that wait for their turn', () => {
  it('begin for 2 ms, and are refused by default once the first has waited for two seconds', () => {
    let at = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => at)
    // Nobody's turn comes.
    vi.useFakeTimers({ toFake: ['setImmediate'] })
    try {
      const arrivals = new Arrivals()
      expect(arrivals.arrive()).toBe(false)
      at = 1.9
      expect(arrivals.arrive()).toBe(false)
      at = 2
      expect(arrivals.arrive()).toBeInstanceOf(Promise)
      at = 2002
      expect(arrivals.arrive()).toBeInstanceOf(Promise)
      at = 2003
      expect(arrivals.arrive()).toBe(true)
    } finally {
      vi.useRealTimers()
      clock.mockRestore()
    }
  })
})

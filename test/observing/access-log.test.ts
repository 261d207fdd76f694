import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'
import { note, observedApp, slowStore } from './observed.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

describe('accessLog', () => {
  it('logs a line for each request: method, path without query, status, milliseconds and ids', async () => {
    const { ask, said } = observedApp({ accessLog: true })
    const headers = { 'X-Request-Id': 'mine', traceparent }
    await ask('/notes?page=1&pageSize=7', { headers })
    await ask('/nowhere', { method: 'DELETE' })
    await ask('/notes/broken')
    await ask('/notes', note('one'))
    const lines = said('request').filter(([, message]) => message === 'request')
    expect(lines).toEqual([
      [
        'info',
        'request',
        {
          requestId: 'mine',
          traceId,
          method: 'GET',
          path: '/notes',
          status: 200,
          ms: expect.any(Number),
        },
      ],
      ...[
        { method: 'DELETE', path: '/nowhere', status: 404 },
        { method: 'GET', path: '/notes/broken', status: 500 },
        { method: 'POST', path: '/notes', status: 201 },
      ].map((request) => [
        'info',
        'request',
        { requestId: expect.any(String), ms: expect.any(Number), ...request },
      ]),
    ])
  })

  it('has the path below the base path, as routers are mounted', async () => {
    const { ask, said } = observedApp({ accessLog: true, basePath: '/api' })
    await ask('/api/notes?page=1')
    await ask('/elsewhere')
    const lines = said('request').filter(([, message]) => message === 'request')
    expect(lines.map(([, , details]) => details?.path)).toEqual(['/notes', '/elsewhere'])
  })

  it('is off unless it is asked for', async () => {
    const { ask, lines } = observedApp()
    await ask('/notes/own')
    expect(lines.map(([, message]) => message)).toEqual(['an own line'])
  })

  it('costs no response when the logger fails', async () => {
    const fail = () => {
      throw new Error('the disk is full')
    }
    const logger = { debug: fail, info: fail, warn: fail, error: fail }
    const { ask } = observedApp({ accessLog: true, slowMs: 1, logger, store: slowStore(5) })
    expect((await ask('/nowhere')).status).toBe(404)
  })

  it('measures what the client waits for', async () => {
    const { ask, said } = observedApp({ accessLog: true, store: slowStore(50) })
    await ask('/notes')
    expect(said('request').at(-1)?.[2].ms).toBeGreaterThanOrEqual(49)
  })
})

describe('slowMs', () => {
  it('logs each call of the store that takes so long, with the ids of its request', async () => {
    const { ask, said } = observedApp({ slowMs: 40, store: slowStore(50) })
    const asked = ['one', 'two', 'three'].map((id) =>
      ask('/notes', { headers: { 'X-Request-Id': id, ...(id === 'two' && { traceparent }) } }),
    )
    await Promise.all(asked)
    const lines = said('slow store call')
    expect(lines).toHaveLength(3)
    for (const [level, message, details] of lines) {
      expect([level, message, details]).toEqual([
        'warn',
        'slow store call',
        {
          requestId: expect.stringMatching(/^(one|two|three)$/),
          ...(details.requestId === 'two' && { traceId }),
          store: 'sqlite',
          collection: 'notes',
          operation: 'find',
          ms: expect.any(Number),
        },
      ])
      expect(details.ms).toBeGreaterThanOrEqual(40)
    }
    expect(new Set(lines.map(([, , { requestId }]) => requestId)).size).toBe(3)
  })

  it('logs a call that fails in the end', async () => {
    const { app, said } = observedApp({ slowMs: 40, store: slowStore(50, 'and fails') })
    const { status } = await app.handle(new Request('http://localhost/notes'))
    expect(status).toBe(500)
    expect(said('slow store call')).toHaveLength(1)
  })

  it('says nothing of calls that are faster', async () => {
    const { ask, said } = observedApp({ slowMs: 60_000, store: slowStore(20) })
    expect((await ask('/notes')).status).toBe(200)
    expect(said('slow store call')).toEqual([])
  })
})

describe('The options of what is logged', () => {
  it.each([
    [{ accessLog: 'yes' }, "'accessLog' must be true or false"],
    [{ slowMs: 0 }, "'slowMs' must be a whole number of at least 1"],
    [{ telemetry: {} }, "'telemetry' must be telemetry() of fieldgate/telemetry"],
  ])('%j is refused', (options, why) => {
    expect(() => createApp({ store: sqliteStore(), ...(options as object) })).toThrow(why)
  })
})

import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { metrics } from '../../src/health/index.ts'
import { createApp } from '../../src/index.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { note, observedApp, slowStore } from '../observing/observed.ts'
import { type Family, parsed, type Sample } from './prometheus.ts'

const NAME = 'http_server_request_duration_seconds'

/** The metric, which is the only one. */
function durations(families: readonly Family[]): readonly Sample[] {
  expect(families.map(({ name, type }) => [name, type])).toEqual([[NAME, 'histogram']])
  return families[0]?.samples ?? []
}

/** How many requests there were, by `method route status`. */
function counts(samples: readonly Sample[]): Record<string, number> {
  const found = samples.filter(({ name }) => name === `${NAME}_count`)
  return Object.fromEntries(
    found.map(({ labels, value }) => [`${labels.method} ${labels.route} ${labels.status}`, value]),
  )
}

describe('metrics', () => {
  it('counts requests by method, route and status, in the text format of Prometheus', async () => {
    const { app, ask } = observedApp()
    app.mount('/', metrics())
    await ask('/notes', note('one'))
    await ask('/notes')
    await ask('/notes?page=1')
    await ask('/notes', { method: 'HEAD' })
    await ask('/notes', {
      method: 'QUERY',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    })
    await ask('/notes', { method: 'PUT' })
    await ask('/notes/broken')
    const response = await ask('/metrics')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(counts(durations(await parsed(await response.text())))).toEqual({
      'POST /notes 201': 1,
      'GET /notes 200': 2,
      'HEAD /notes 200': 1,
      'QUERY /notes 200': 1,
      'PUT /notes 405': 1,
      'GET /notes/broken 500': 1,
    })
  })

  it('has a bounded number of series, whatever clients send', async () => {
    const { app, ask } = observedApp()
    app.mount('/', metrics())
    for (let at = 0; at < 200; at += 1) {
      const id = at.toString(16).padStart(24, '0')
      await ask(`/notes/${id}?x=${at}`)
      await ask(`/nowhere/${id}`)
      await ask('/notes', { method: `BREW${at}` })
    }
    const text = await (await ask('/metrics')).text()
    expect(counts(durations(await parsed(text)))).toEqual({
      'GET /notes/:id 404': 200,
      'GET unmatched 404': 200,
      '_OTHER /notes 405': 200,
    })
  })

  it('gives cumulative buckets of seconds, and their sum', async () => {
    const { app, ask } = observedApp({ store: slowStore(30) })
    app.mount('/', metrics())
    await ask('/notes')
    await ask('/notes')
    const samples = durations(await parsed(await (await ask('/metrics')).text()))
    const buckets = samples.filter(({ name }) => name === `${NAME}_bucket`)
    expect(buckets.map(({ labels }) => labels.le)).toEqual(
      '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf'.split(' '),
    )
    const values = buckets.map(({ value }) => value)
    expect(values).toEqual([...values].sort((a, b) => a - b))
    expect(values[2]).toBe(0)
    expect(values.at(-1)).toBe(2)
    const sum = samples.find(({ name }) => name === `${NAME}_sum`)?.value ?? 0
    expect(sum).toBeGreaterThan(0.058)
    expect(sum).toBeLessThan(60)
  })

  it('writes a route as it is, whatever characters it has', async () => {
    const { app } = observedApp()
    const own = { method: 'GET', guards: [], handler: () => new Response('') }
    app.mount('/odd', { attach: () => [{ ...own, path: '/v(\\d+)' }] })
    app.mount('/', metrics())
    await app.handle(new Request('http://localhost/odd/v12'))
    const response = await app.handle(new Request('http://localhost/metrics'))
    const samples = durations(await parsed(await response.text()))
    expect(new Set(samples.map(({ labels }) => labels.route))).toEqual(new Set(['/odd/v(\\d+)']))
  })

  it('counts a request once where it is mounted twice, and what a guard has refused too', async () => {
    const app = createApp({ store: sqliteStore() })
    app.use(({ url }) => (url.endsWith('/metrics') ? undefined : new Response('', { status: 401 })))
    const both = metrics()
    app.mount('/', both).mount('/internal', both)
    await app.handle(new Request('http://localhost/notes'))
    const response = await app.handle(new Request('http://localhost/internal/metrics'))
    expect(counts(durations(await parsed(await response.text())))).toEqual({
      'GET unmatched 401': 1,
    })
  })

  it('is guarded by what guards the app, whichever came first', async () => {
    const { app, ask } = observedApp()
    app.mount('/', metrics())
    expect((await ask('/metrics')).status).toBe(200)
    app.use(() => new Response('', { status: 401 }))
    expect((await ask('/metrics')).status).toBe(401)
  })

  it('tells of an app that cannot start, too', async () => {
    const prepare = () => Promise.reject(new StoreUnavailable('no database'))
    const { app, ask } = observedApp({ store: { ...sqliteStore(), prepare } })
    app.mount('/', metrics())
    await ask('/notes')
    const text = await (await ask('/metrics')).text()
    expect(counts(durations(await parsed(text)))).toEqual({ 'GET unmatched 503': 1 })
  })
})

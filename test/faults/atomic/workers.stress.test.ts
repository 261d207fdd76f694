import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import type { Step } from '../../atomic/slots.ts'
import { runs } from '../../runs.ts'
import { racesOn } from './races.ts'
import { workerOf } from './worker-of.ts'

type Send = (path: string, body: object) => Promise<{ readonly status: number; data: unknown }>

const sender =
  (ask: (path: string, init: RequestInit) => Promise<Response>): Send =>
  async (path, body) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const { data } = (await response.json()) as { data: unknown }
    return { status: response.status, data }
  }

interface Opened {
  readonly places: readonly Send[]
  close(): Promise<void>
}

/** The Worker, and where it has D1, a process of Node over the same database. */
async function opened(server: 'd1' | 'durable'): Promise<Opened> {
  const miniflare = await workerOf(server, new URL(`servers/${server}.ts`, import.meta.url))
  const base = (await miniflare.ready).origin
  const worker = sender((path, init) => fetch(base + path, init))
  if (server === 'durable') return { places: [worker], close: () => miniflare.dispose() }
  const binding = (await miniflare.getD1Database('DB')) as unknown as D1Binding
  const app = racesOn(d1Store(binding))
  const node = sender((path, init) => app.handle(new Request(`http://x${path}`, init)))
  const close = async () => {
    await app.close()
    await miniflare.dispose()
  }
  return { places: [worker, node], close }
}

describe.each(['d1', 'durable'] as const)('on workerd with %s', (server) => {
  let places: readonly Send[]
  let close: Opened['close'] | undefined
  beforeAll(async () => {
    ;({ places, close } = await opened(server))
  })
  afterAll(() => close?.())

  it('of 100 overlapping bookings, one is taken', { timeout: 600_000 }, async () => {
    for (let round = 0; round < runs(1); round += 1) {
      const all = await Promise.all(
        Array.from({ length: 100 }, async (_, at) => {
          const place = at % 10 === 9 ? places.length - 1 : 0
          const booking = { room: `room ${round}`, from: at % 10, to: 10 + (at % 7) }
          return { place, status: (await places[place]?.('/bookings', booking))?.status }
        }),
      )
      const counts = Object.entries(Object.groupBy(all, ({ status }) => String(status)))
      console.info(
        `${server}, bookings:`,
        counts.map(([one, some]) => `${one}: ${some?.length}`),
      )
      // Miniflare's way from Node to D1 drops connections under load.
      const told = all.filter(({ place, status }) => place === 0 || status !== 500)
      expect(new Set(told.map(({ status }) => status))).toEqual(new Set([201, 409]))
      expect(told.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(told.length).toBeGreaterThanOrEqual(90)
    }
    const data = { room: 'room 0', count: 1, groups: [{ room: 'room 0', count: 1 }] }
    if (runs(1) === 1) expect(await places[0]?.('/keys', {})).toEqual({ status: 200, data })
  })

  it('atomic steps at once come to the same as one after the other', {
    timeout: 600_000,
  }, async () => {
    const [first] = places
    await first?.('/fill', {})
    const steps: Step[] = []
    for (let round = 0; round < runs(1); round += 1) {
      const done = await Promise.all(
        places.map((send, at) => send('/steps', { tag: `${'pq'[at]}${round}-`, count: 20 })),
      )
      steps.push(...done.flatMap(({ data }) => data as Step[]))
    }
    const ends = Object.entries(Object.groupBy(steps, ({ end }) => end)).map(([k, v]) => [
      k,
      v?.length,
    ])
    console.info(`${server}, steps:`, Object.fromEntries(ends))
    expect(await first?.('/faults', { steps })).toEqual({ status: 200, data: [] })
    expect(Object.fromEntries(ends).stored).toBeGreaterThan(0)
  })
})

/** What an app offers to guards: to come before everything else, and to see the response. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { health } from '../../src/health/index.ts'
import { type Guard, HttpError } from '../../src/index.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { errorOf, notes } from './notes.ts'

const marking: Guard = Object.assign(
  ((_, { headers }) => void headers.set('X-Early', 'yes')) as Guard,
  { early: true },
)

describe('an early guard', () => {
  it('runs before whatever else may refuse a request', async () => {
    const store = sqliteStore()
    const out = async () => {
      throw new StoreUnavailable('no database')
    }
    const { app, ask } = notes([marking], { store: { ...store, prepare: out } })
    app.mount('/', health())
    const asked = [
      ask('GET', '/notes'),
      ask('GET', '/notes', { platform: { isRefused: true } }),
      ask('GET', '/healthz'),
      ask('GET', '/notes', { headers: { host: 'a b' } }),
    ]
    const seen = (await Promise.all(asked)).map(({ status, headers }) => [
      status,
      headers.get('x-early'),
    ])
    expect(seen).toEqual([
      [503, 'yes'],
      [503, 'yes'],
      [200, 'yes'],
      [400, 'yes'],
    ])
  })

  it('ends a request like any other guard', async () => {
    const early = (guard: Guard) => Object.assign(guard, { early: true })
    const responds = notes([early(() => new Response('mine'))])
    expect(await (await responds.ask('GET', '/notes')).text()).toBe('mine')
    const refuses = notes([
      early(() => {
        throw new HttpError(418, 'No.')
      }),
    ])
    const response = await refuses.ask('GET', '/notes')
    expect([response.status, await errorOf(response)]).toEqual([418, 'No.'])
    expect(response.headers.get('x-request-id')).not.toBeNull()
  })
})

describe('context.onResponse', () => {
  it('shows a guard every response, and sends the one that it returns', async () => {
    const seen: number[] = []
    const { ask } = notes([
      (_, context) =>
        context.onResponse((response) => {
          seen.push(response.status)
          return response.status === 404 ? new Response('gone', { status: 410 }) : undefined
        }),
    ])
    const paths = ['/notes', '/none', '/own/broken']
    const statuses = []
    for (const path of paths) statuses.push((await ask('GET', path)).status)
    expect(statuses).toEqual([200, 410, 500])
    expect(seen).toEqual([200, 404, 500])
  })

  it('calls the hook of the last guard first, and one that fails changes nothing', async () => {
    const { ask, messages } = notes([
      (_, context) =>
        context.onResponse(async (response) => new Response(`${await response.text()}2`)),
      (_, context) => context.onResponse(() => new Response('1')),
      (_, context) =>
        context.onResponse(() => {
          throw new Error('hook')
        }),
    ])
    const response = await ask('GET', '/notes')
    expect(await response.text()).toBe('12')
    expect(response.headers.get('x-request-id')).not.toBeNull()
    expect(messages).toContain('a response hook failed')
  })

  it('calls it for the 503 of a request that takes too long, then for what its code returns', async () => {
    const seen: unknown[] = []
    let done = () => {}
    const isDone = new Promise<void>((resolve) => {
      done = resolve
    })
    const { ask } = notes(
      [
        (_, context) =>
          context.onResponse((response, isLate) => {
            seen.push([response.status, isLate])
            if (!isLate) done()
          }),
        async (request) => {
          while (!request.signal.aborted) await sleep(1)
          return new Response('too late')
        },
      ],
      // Long enough for the start of the app on a busy machine: the guards have to run within it.
      { requestTimeoutMs: 250 },
    )
    expect((await ask('GET', '/notes')).status).toBe(503)
    await isDone
    expect(seen).toEqual([
      [503, true],
      [503, false],
    ])
  })
})

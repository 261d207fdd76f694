import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUNTIMES } from '../runtimes/commands.ts'
import { type Gate, gateTo } from '../services/gate.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { type NotesProcess, startNotes } from './notes/process.ts'

const UNAVAILABLE = [503, '5', 'The service is unavailable. Try again shortly.']

/** The limit of every request, which is 60 seconds by default. */
const REQUEST_SECONDS = 65

/**
 * How many seconds the last answer may take. Bun 1.4 does not always tell the driver of MongoDB that a connection has gone: what
 * waits for it ends with the limit of its request.
 */
function slowest(runtime: string, database: string, how: string): number {
  return runtime === 'bun' && database === 'MongoDB' && how === 'shut' ? REQUEST_SECONDS : 7
}

/** Each runtime's server on the database at `url`; `through` is the address of the same through a gate. */
function outages(
  database: string,
  url: string,
  through: (gated: string, runtime: string) => string,
): void {
  describe.each(Object.keys(RUNTIMES))(`%s: ${database} is gone`, (runtime) => {
    let gate: Gate
    let server: NotesProcess

    beforeAll(async () => {
      gate = await gateTo(url)
      const gated = url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${gate.port}`)
      server = await startNotes({ store: through(gated, runtime) }, [], runtime)
    })
    afterAll(async () => {
      await server.kill()
      await gate.shut()
    })

    const ask = async (method: string, at = '') => {
      const body =
        method === 'GET' || method === 'DELETE' ? null : JSON.stringify({ label: 'a', n: 1 })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${server.url}/notes${at}`, { method, headers, body })
      const sent = (await response.json()) as { data?: { _id: string }; error?: string }
      return { status: response.status, retry: response.headers.get('retry-after'), ...sent }
    }

    it.each([
      ['hangs', 'stick'],
      ['refuses connections', 'shut'],
    ] as const)(
      'every route is a 503 with Retry-After within five seconds when it %s',
      { timeout: 300_000 },
      async (_, how) => {
        const { data } = await ask('POST')
        await gate[how]()
        const began = performance.now()
        const one = `/${data?._id}`
        const asked = [
          ask('GET'),
          ask('GET', one),
          ask('POST'),
          ask('PATCH', one),
          ask('DELETE', one),
        ]
        const answers = await Promise.all(asked)
        const seconds = (performance.now() - began) / 1000
        await gate.open()
        expect(answers.map(({ status, retry, error }) => [status, retry, error])).toEqual(
          answers.map(() => UNAVAILABLE),
        )
        expect(seconds).toBeLessThan(slowest(runtime, database, how))
        // It serves again by itself.
        const until = performance.now() + 2000 * REQUEST_SECONDS
        let status = 503
        while (status === 503 && performance.now() < until) ({ status } = await ask('POST'))
        expect(status).toBe(201)
      },
    )
  })
}

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)
  outages('PostgreSQL', url, (gated) => addressOf(gated, schema()))
})

await withService('mongo', ({ url }) => {
  outages('MongoDB', url, (gated, runtime) => {
    const address = new URL(gated)
    address.pathname = `/outage-${runtime}`
    // The set's members are known by addresses that lead past the gate.
    address.search = '?directConnection=true'
    return address.href
  })
})

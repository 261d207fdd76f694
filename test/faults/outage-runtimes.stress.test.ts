import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RUNTIMES } from '../runtimes/commands.ts'
import { type Gate, gateTo } from '../services/gate.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { type NotesProcess, startNotes } from './notes/process.ts'

const UNAVAILABLE = [503, '5', 'The service is unavailable. Try again shortly.']

/** How many seconds the last answer may come after five seconds have passed in the same server: on a busy machine they are longer. */
const PATIENCE_SECONDS = 2

/** How many seconds it may take to serve again. */
const RECOVERY_SECONDS = 30

/** A runtime's server on a database that can go. */
interface Served {
  readonly runtime: string
  readonly database: string
  readonly gate: Gate
  readonly server: NotesProcess
}

const served: Served[] = []

/** Starts a server for each runtime on the database at `url`; `through` is the address of the same through a gate. */
function serve(
  database: string,
  url: string,
  through: (gated: string, runtime: string) => string,
): void {
  beforeAll(async () => {
    const begin = async (runtime: string) => {
      const gate = await gateTo(url)
      const gated = url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${gate.port}`)
      const server = await startNotes({ store: through(gated, runtime) }, [], runtime)
      served.push({ runtime, database, gate, server })
    }
    await Promise.all(Object.keys(RUNTIMES).map(begin))
  })
}

afterAll(async () => {
  for (const { server, gate } of served) {
    await server.kill()
    await gate.shut()
  }
})

async function ask({ server }: Served, method: string, at = '') {
  const body = method === 'GET' || method === 'DELETE' ? null : JSON.stringify({ label: 'a', n: 1 })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${server.url}/notes${at}`, { method, headers, body })
  const sent = (await response.json()) as { data?: { _id: string }; error?: string }
  return { status: response.status, retry: response.headers.get('retry-after'), ...sent }
}

/** What differs from what must be while the database is gone, and after it. */
async function outage(one: Served, how: 'stick' | 'shut'): Promise<unknown[]> {
  const { gate } = one
  const { data } = await ask(one, 'POST')
  await gate[how]()
  const began = performance.now()
  const secondsOf = async (work: Promise<unknown>) => {
    await work
    return (performance.now() - began) / 1000
  }
  const at = `/${data?._id}`
  const asked = Promise.all([
    ask(one, 'GET'),
    ask(one, 'GET', at),
    ask(one, 'POST'),
    ask(one, 'PATCH', at),
    ask(one, 'DELETE', at),
  ])
  const five = fetch(`${one.server.url}/five-seconds`)
  const [seconds, passed] = await Promise.all([secondsOf(asked), secondsOf(five)])
  await gate.open()
  const found = (await asked).map(({ status, retry, error }) => [status, retry, error])
  const problems: unknown[] = found.filter((answer) => !isDeepStrictEqual(answer, UNAVAILABLE))
  if (seconds >= passed + PATIENCE_SECONDS) problems.push(`after ${seconds} s`)
  // It serves again by itself.
  const until = performance.now() + 1000 * RECOVERY_SECONDS
  let status = 503
  while (status === 503 && performance.now() < until) ({ status } = await ask(one, 'POST'))
  if (status !== 201) problems.push(`then ${status}`)
  return problems
}

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)
  serve('PostgreSQL', url, (gated) => addressOf(gated, schema()))
})

await withService('mongo', ({ url }) => {
  serve('MongoDB', url, (gated, runtime) => {
    const address = new URL(gated)
    address.pathname = `/outage-${runtime}`
    // The set's members are known by addresses that lead past the gate.
    address.search = '?directConnection=true'
    return address.href
  })
})

// Each waits for seconds: all runtimes on both databases at the same time.
it.each([
  ['hangs', 'stick'],
  ['refuses connections', 'shut'],
] as const)(
  'every route is a 503 with Retry-After within five seconds when the database %s, on each runtime',
  { timeout: 300_000 },
  async (_, how) => {
    const nameOf = ({ runtime, database }: Served) => `${runtime} on ${database}`
    const found = served.map(async (one) => [nameOf(one), await outage(one, how)] as const)
    expect(served.length).toBeGreaterThan(0)
    expect(await Promise.all(found)).toEqual(served.map((one) => [nameOf(one), []]))
  },
)

/**
 * A history: clients over one or more ways to the same records, and what is wrong with it.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, type Call, Client, type Known, type Send } from './clients.ts'
import { type Entry, faultsIn } from './judge.ts'

/** How many clients there are, and how long they work. */
export interface Size {
  readonly clients: number
  readonly ms: number
  /** Whether requests may fail or be cut off. */
  readonly isRough?: boolean
}

/** The calls that are refused with a 400 where a team, or the record at a cursor, is gone. */
const WITH_REFUSALS = new Set(['create', 'move', 'batch', 'step', 'thrown step', 'walk'])

/** What a history has come to. */
export interface Outcome {
  readonly faults: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

const MOST_LATE_MS = 20_000

/** A way to an app that is in this process. */
export function within(app: { handle(request: Request): Promise<Response> }): Send {
  return asked((path, init) => app.handle(new Request(`http://localhost${path}`, init)))
}

/** A way to the app at a URL; now and then its client does not wait for the response. */
export function over(url: string, cut = 0): Send {
  return asked((path, init) => {
    const signal = Math.random() < cut ? { signal: AbortSignal.timeout(Math.random() * 30) } : {}
    return fetch(url + path, { ...init, ...signal })
  })
}

function asked(ask: (path: string, init: RequestInit) => Promise<Response>): Send {
  return async (method, path, { json, headers = {} } = {}) => {
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const body = json === undefined ? {} : { body: JSON.stringify(json) }
    try {
      const response = await ask(path, { method, headers: { ...type, ...headers }, ...body })
      const text = await response.text()
      const { status } = response
      return { status, etag: response.headers.get('etag'), body: text ? JSON.parse(text) : null }
    } catch {
      return undefined
    }
  }
}

/** Has clients work over the ways, and judges what they saw; `meanwhile` may disturb them until it is over. */
export async function historyOver(
  ways: readonly Send[],
  { clients, ms, isRough = false }: Size,
  meanwhile: (isOver: () => boolean) => Promise<void> = async () => {},
): Promise<Outcome> {
  const [first] = ways
  if (!first) throw new Error('no way')
  const known: Known = { lasting: [], passing: [], teams: [] }
  const beginner = new Client(first, known)
  await beginner.begin()
  const until = performance.now() + ms
  const workers = Array.from({ length: clients }, (_, at) => {
    return new Client(ways[at % ways.length] as Send, known)
  })
  const isStep = ({ kind, status }: Call) => kind === 'step' && status === 200
  const hasSteps = () => workers.some(({ calls }) => calls.some(isStep))
  // On a busy machine the time may be over before a step has succeeded.
  const isOver = () => {
    const late = performance.now() - until
    return late > MOST_LATE_MS || (late > 0 && hasSteps())
  }
  const [, ...calls] = await Promise.all([
    meanwhile(isOver),
    ...workers.map((client) => client.work(isOver)),
  ])
  const last = new Client(first, known)
  await last.list()
  await last.walk()
  // Transactions of other tests may hold back what the log shows: it is whole once it shows this one.
  const { teams } = known
  for (const before = teams.length; teams.length === before; ) await last.team()
  const all: Call[] = [...beginner.calls, ...calls.flat(), ...last.calls]
  const log = await settled(
    () => dataOf<Entry>(first, '/log'),
    (entries) => entries.some(({ after }) => after?._id === teams.at(-1)),
  )
  const left = await Promise.all(
    ['/items', '/teams'].map((path) => dataOf<Entry['after'] & {}>(first, path)),
  )
  const mayBe = isRough ? [0, 503] : []
  const failed = all.filter(({ kind, status: one }) => {
    if (one === 400) return !WITH_REFUSALS.has(kind)
    return (one === 0 || one >= 500) && !mayBe.includes(one)
  })
  return {
    faults: [
      ...failed.map(({ kind, id, status }) => `${kind} ${id} failed with ${status}`),
      ...(await totalsOf(ways, left[0]?.length ?? 0)),
      ...faultsIn({ calls: all, log, left: left.flat() }),
    ],
    counts: Object.fromEntries(
      [...Map.groupBy(all, ({ kind, status }) => `${kind} ${status}`)]
        .map(([what, some]) => [what, some.length] as const)
        .sort(),
    ),
  }
}

/** What is asked again until it is whole, and the same twice: what nobody waits for may still arrive. */
async function settled<T>(
  ask: () => Promise<T[]>,
  isWhole: (all: readonly T[]) => boolean,
): Promise<T[]> {
  for (let before = await ask(); ; ) {
    await delay(100)
    const after = await ask()
    if (after.length === before.length && isWhole(after)) return after
    before = after
  }
}

async function dataOf<T>(send: Send, path: string): Promise<T[]> {
  return ((await answered(send, path)).body as { data: T[] }).data
}

async function answered(send: Send, path: string): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send('GET', path)
    if (answer?.status === 200) return answer
    if (tries === 50) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    await delay(100)
  }
}

/** Every way counts as many items as there are. */
async function totalsOf(ways: readonly Send[], count: number): Promise<string[]> {
  const told = await Promise.all(ways.map((send) => answered(send, '/items?page=1&pageSize=1')))
  return told.flatMap((answer) => {
    const { totalRecords } = Object(answer.body).pagination
    return totalRecords === count ? [] : [`a list counts ${totalRecords} of ${count}`]
  })
}

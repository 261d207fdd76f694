/**
 * Worlds of random models, each served by an app over every store: the same requests must get the same answers.
 *
 * @module
 */

import type { App, Fields } from '../../../src/index.ts'
import { recordedLog } from '../service.ts'
import { appOf, type Models, modelsOf } from './build.ts'
import { firstRequests, randomRequests } from './requests.ts'
import { type Answer, type Drawn, foreseeable, type Sent, sendTo } from './send.ts'
import { randomFor, type WorldSpec, worldSpec } from './spec.ts'
import { type Backends, STORES } from './stores.ts'

/** How a run went. */
export interface Outcome {
  readonly requests: number
  /** How many requests were answered with each status, by method. */
  readonly statuses: Readonly<Record<string, number>>
  readonly disagreements: readonly Disagreement[]
}

/** A request that the stores answer differently, or with a failure. */
export interface Disagreement {
  readonly seed: number
  readonly spec: WorldSpec
  /** What was sent before, as far as it is needed, and the request itself. */
  readonly trace: readonly Sent[]
  /** By store. */
  readonly answers: Readonly<Record<string, string>>
}

/** What a run does. */
export interface Plan {
  readonly seed: number
  readonly requests: number
  /** Worlds at a time. Default 4. */
  readonly parallel?: number
  /** Ends the run after so many disagreements. Default 1. */
  readonly most?: number
  readonly shrink?: boolean
  readonly onWorld?: (done: number) => void
}

const PER_WORLD = 150
const SHRINK_RUNS = 60
const NO_UUID = '00000000-0000-4000-8000-ffffffffffff'

/** Sends `requests` requests to worlds drawn from `seed` on; the world of a seed is always the same. */
export async function differ(backends: Backends, plan: Plan): Promise<Outcome> {
  const { parallel = 4, most = 1, requests } = plan
  const statuses = new Map<string, number>()
  const disagreements: Disagreement[] = []
  let done = 0
  let nextSeed = plan.seed
  const work = async () => {
    while (done < requests && disagreements.length < most) {
      const seed = nextSeed
      nextSeed += 1
      done += PER_WORLD
      const found = await world(backends, seed, statuses)
      if (found) disagreements.push(plan.shrink === false ? found : await shrunk(backends, found))
      plan.onWorld?.(done)
    }
  }
  const restore = foreseeable()
  try {
    await Promise.all(Array.from({ length: parallel }, work))
  } finally {
    restore()
  }
  return { requests: done, statuses: Object.fromEntries([...statuses].sort()), disagreements }
}

async function world(
  backends: Backends,
  seed: number,
  statuses: Map<string, number>,
): Promise<Disagreement | undefined> {
  const random = randomFor(seed)
  const spec = worldSpec(random)
  const trace: Sent[] = []
  const source = function* (): Generator<Sent> {
    yield* firstRequests(random, spec)
    while (trace.length < PER_WORLD) yield* randomRequests(random, spec)
    for (const part of ['thing', 'other'])
      yield { method: 'app.store', path: `all ${part}`, headers: {} }
  }
  const kept = function* (): Generator<Sent> {
    for (const sent of source()) {
      trace.push(sent)
      yield sent
    }
  }
  const answers = await served(backends, spec, kept(), (sent, status) => {
    const key = `${sent.method} ${status}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
  })
  return answers && { seed, spec, trace, answers }
}

let worlds = 0

/** Serves a world and sends what `source` gives, until the answers differ: then gives these. */
async function served(
  backends: Backends,
  spec: WorldSpec,
  source: Iterable<Sent>,
  onAnswer?: (sent: Sent, status: number) => void,
): Promise<Record<string, string> | undefined> {
  worlds += 1
  const models = modelsOf(spec, `w${worlds}`)
  const clock = { at: Date.UTC(2024, 2, 1, 12) }
  const logs = STORES.map(() => recordedLog())
  const apps = backends
    .open()
    .map((store, at) => appOf(spec, models, store, () => clock.at, logs[at] ?? recordedLog()))
  const known = new Known(spec)
  const drawn: Drawn[] = apps.map(() => ({ count: 0 }))
  try {
    await Promise.all(apps.map((app) => app.ready()))
    for (const sent of source) {
      clock.at += 1000
      const answers = await all(apps, models, (at) => known.resolved(sent, at), drawn)
      const [first] = answers
      if (!first) continue
      const isOther = ({ text, status }: Answer, at: number) =>
        status >= 500 || (text !== first.text && (at < SAME_BYTES || !isAlike(text, first.text)))
      if (answers.some(isOther)) {
        const told = (at: number) => logs[at]?.lines.findLast(({ level }) => level === 'error')
        return Object.fromEntries(
          answers.map(({ text, status }, at) => [
            STORES[at],
            status >= 500 ? `${text}\n${told(at)?.details.error ?? ''}` : text,
          ]),
        )
      }
      onAnswer?.(sent, first.status)
      known.learn(sent, first, answers)
    }
    return undefined
  } finally {
    await Promise.all(apps.map((app) => app.close()))
    await backends.drop([models.thing.collection, models.other.collection])
  }
}

function all(
  apps: readonly App[],
  models: Models,
  sent: (at: number) => Sent,
  drawn: readonly Drawn[],
): Promise<Answer[]> {
  return Promise.all(
    apps.map((app, at) => sendTo(app, models, sent(at), drawn[at] ?? { count: 0 })),
  )
}

/** SQLite and D1 keep the order of members alike; MongoDB's and jsonb's are others, which no page promises. */
const SAME_BYTES = 2

/** Whether two answers differ at most in the order of members, and so in their ETags. */
function isAlike(one: string, other: string): boolean {
  return ordered(one) === ordered(other)
}

function ordered(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('etag: '))
  // A file of JSON has several of them, one a line; a cell of CSV may be one.
  const alike = (line: string) =>
    /^[{[]/.test(line) ? orderedJson(line) : line.replace(/"((?:[^"]|"")*)"/g, orderedCell)
  return lines.map(alike).join('\n')
}

function orderedJson(text: string): string {
  return JSON.stringify(sorted(JSON.parse(text)))
}

function orderedCell(cell: string, quoted: string): string {
  try {
    return orderedJson(quoted.replaceAll('""', '"'))
  } catch {
    return cell
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What answers have told so far, for the tokens of later requests. */
class Known {
  readonly #ids = { id: [] as string[], other: [] as string[] }
  readonly #spec: WorldSpec
  #cursor = ''
  /** By store. */
  #etags: (string | null)[] = []

  constructor(spec: WorldSpec) {
    this.#spec = spec
  }

  /** What is sent to the store at position `store`. */
  resolved({ method, path, headers, body }: Sent, store: number): Sent {
    const within = (text: string) =>
      text.replace(/~(id|other|cursor|etag)(\d+)~/g, (_, kind, at) =>
        kind === 'etag' ? (this.#etags[store] ?? '"none"') : this.#value(kind, Number(at)),
      )
    return {
      method,
      path: within(path),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [name, within(text)]),
      ),
      ...(body !== undefined && { body: within(body) }),
    }
  }

  #value(kind: string, at: number): string {
    if (kind === 'cursor') return this.#cursor
    const ids = this.#ids[kind as 'id' | 'other']
    const { id } = this.#spec[kind === 'id' ? 'thing' : 'other']
    return ids[at % ids.length] ?? (id === 'uuid' ? NO_UUID : 'f'.repeat(24))
  }

  learn({ method, path }: Sent, { status, body }: Answer, answers: readonly Answer[]): void {
    if (answers[0]?.etag) this.#etags = answers.map(({ etag }) => etag)
    if (method === 'GET' || method === 'QUERY') {
      this.#cursor = /"nextCursor":"([^"]+)"/.exec(body)?.[1] ?? ''
    }
    const inserts = method === 'POST' || path.startsWith('insert')
    const id = inserts && status < 300 && (JSON.parse(body) as { data: Fields | null }).data?._id
    if (typeof id === 'string')
      this.#ids[/^\/others|other$/.test(path.replace(/\?.*/s, '')) ? 'other' : 'id'].push(id)
  }
}

/** The same disagreement with fewer requests before it, as far as a bounded search finds. */
async function shrunk(backends: Backends, found: Disagreement): Promise<Disagreement> {
  let { trace, answers } = found
  let runs = 0
  for (let size = trace.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at + size < trace.length && runs < SHRINK_RUNS; ) {
      runs += 1
      const shorter = trace.toSpliced(at, size)
      const again = await served(backends, found.spec, shorter)
      if (again && sameKind(again, answers)) {
        trace = shorter
        answers = again
      } else at += size
    }
  }
  return { ...found, trace, answers }
}

/** Whether the stores differ in the same way: who agrees with whom, and by which status. */
function sameKind(some: Record<string, string>, others: Readonly<Record<string, string>>): boolean {
  const kind = (answers: Readonly<Record<string, string>>) => {
    const texts = Object.values(answers)
    return texts.map((text) => `${texts.indexOf(text)} ${text.slice(0, 3)}`).join()
  }
  return kind(some) === kind(others)
}

/** A disagreement as a text to read. */
export function report({ seed, spec, trace, answers }: Disagreement): string {
  const last = trace.at(-1)
  const used = spec.routers.filter(({ mount }) => trace.some(({ path }) => path.startsWith(mount)))
  return [
    `The stores disagree. Seed ${seed}: node -C fieldgate-source test/records/differential.ts --requests 1 --seed ${seed}`,
    `thing: ${JSON.stringify(spec.thing)}`,
    `other: ${JSON.stringify(spec.other)}`,
    ...used.map((router) => `router: ${JSON.stringify(router)}`),
    ...trace.map(({ method, path, headers, body }) =>
      [method, path, JSON.stringify(headers), body].filter(Boolean).join('  '),
    ),
    `The last of these, ${last?.method} ${last?.path}, is answered:`,
    ...Object.entries(answers).map(([store, text]) => `--- ${store}\n${text}`),
  ].join('\n')
}

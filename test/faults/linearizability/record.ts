/**
 * Records what clients see of single records over HTTP, and has the checker in this folder say whether that is
 * linearizable: `npm run faults -- linearizability`. It needs Go.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startReplicaSet } from '../../services/replica-set.ts'
import { startValkey } from '../../services/valkey.ts'
import { send } from '../notes/clients.ts'
import { startNotes } from '../notes/process.ts'
import { part, type Report } from '../report.ts'

const run = promisify(execFile)

/** One request, as the checker reads it. */
interface Request {
  readonly record: string
  readonly kind: 'read' | 'write' | 'swap'
  readonly value: number
  readonly expected: number
  readonly outcome: 'ok' | 'refused' | 'unknown'
  readonly call: number
  readonly return: number
}

/** Where requests go, and what harms it meanwhile. */
interface Scene {
  readonly urls: readonly string[]
  harm(): Promise<void>
  stop(): Promise<void>
}

const CLIENTS = 8
const RECORDS = 4

/** Two servers over one database, with a cache in Valkey or without. */
async function scene(store: 'sqlite' | 'mongodb', isCached: boolean): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
  const settings = { electionTimeoutMillis: 1500, heartbeatIntervalMillis: 300 }
  const set = store === 'mongodb' ? await startReplicaSet(3, { settings }) : undefined
  const valkey = isCached ? await startValkey() : undefined
  const options = {
    store: set?.url.replace('/?', '/faults?') ?? join(folder, 'notes.db'),
    ...(valkey && { cache: valkey.url }),
  }
  const servers = [await startNotes(options), await startNotes(options)]
  return {
    urls: servers.map(({ url }) => url),
    async harm() {
      const primary = await set?.primary()
      // The primary closes the connection on which it is told.
      await primary?.command({ replSetStepDown: 10 }).catch(() => {})
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()))
      await valkey?.stop()
      await set?.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * What clients see in so many seconds, of which one is harmful. With `oneWriter` the writes of a record do not overlap:
 * between servers with a cache, reads may show two overlapping writes in either order.
 */
async function recorded(
  { urls, harm }: Scene,
  seconds: number,
  oneWriter: boolean,
): Promise<Request[]> {
  const anywhere = () => oneOf(urls) ?? ''
  const made = Array.from({ length: RECORDS }, (_, at) =>
    send('POST', `${anywhere()}/notes`, { label: `${at}`, n: 0 }),
  )
  const records = (await Promise.all(made)).map((reply) => String(reply?.body.data?._id))
  const history: Request[] = []
  let running = true
  let values = 0

  const read = async (record: string, seen: Seen) => {
    const call = now()
    const reply = await send('GET', `${anywhere()}/notes/${record}`)
    if (reply?.status !== 200) return
    const value = Number(reply.body.data?.n)
    seen.set(record, { value, etag: reply.headers.get('etag') ?? '' })
    const times = { call, return: now() }
    history.push({ record, kind: 'read', value, expected: 0, outcome: 'ok', ...times })
  }
  /** A plain write, or one under the condition that the record is still what was `known` of it. */
  const write = async (
    record: string,
    known?: { readonly etag: string; readonly value: number },
  ) => {
    values += 1
    const value = values
    const call = now()
    const headers = known && { 'if-match': known.etag }
    const reply = await send('PATCH', `${anywhere()}/notes/${record}`, { n: value }, headers)
    const outcome = OUTCOMES[reply?.status ?? 0] ?? 'unknown'
    const [kind, expected] = known ? (['swap', known.value] as const) : (['write', 0] as const)
    history.push({ record, kind, value, expected, outcome, call, return: now() })
    if (outcome === 'unknown') await delay(100)
  }
  /** Of four requests two are reads, one is a write of what has just been read, and one a plain write. */
  const request = async (writable: readonly string[], seen: Seen) => {
    const dice = Math.random()
    const record = oneOf(dice < 0.5 ? records : writable)
    if (record === undefined) return
    if (dice < 0.75) await read(record, seen)
    if (dice >= 0.5) await write(record, dice < 0.75 ? seen.get(record) : undefined)
  }
  const client = async (number: number) => {
    const seen: Seen = new Map()
    const writable = oneWriter ? records.filter((_, at) => at === number) : records
    while (running) await request(writable, seen)
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  await delay(seconds * 500)
  await harm()
  await delay(seconds * 500)
  running = false
  await Promise.all(clients)
  return history
}

/** What a client has last read of each record. */
type Seen = Map<string, { readonly etag: string; readonly value: number }>

const OUTCOMES: Readonly<Record<number, Request['outcome']>> = { 200: 'ok', 412: 'refused' }

function oneOf<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)]
}

/** Nanoseconds of this process's clock. */
function now(): number {
  return Math.round(performance.now() * 1e6)
}

/** The history with a read at its end that shows a value which was overwritten long before. */
function withStaleRead(history: readonly Request[]): Request[] {
  const writes = history.filter(({ kind, outcome }) => kind === 'write' && outcome === 'ok')
  const old = writes.find((one) =>
    writes.some((other) => other.record === one.record && other.call > one.return),
  )
  const end = now()
  if (!old) throw new Error('the history has no two writes of one record')
  return [...history, { ...old, kind: 'read', call: end, return: end + 1 }]
}

/** Builds the checker, and gives what it says of a history. */
async function checker(folder: string): Promise<(history: readonly Request[]) => Promise<string>> {
  const program = join(folder, 'check')
  await run('go', ['build', '-o', program, '.'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  return async (history) => {
    const file = join(folder, 'history.jsonl')
    await writeFile(file, history.map((request) => `${JSON.stringify(request)}\n`).join(''))
    const said = await run(program, [file]).catch((error: { stdout: string }) => error)
    return said.stdout.trim()
  }
}

/** `npm run faults -- linearizability`. */
export const linearizability = part({
  about: 'PATCH and GET through two servers, checked by porcupine',
  options: { seconds: 10 },
  async run({ seconds }): Promise<Report> {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
    const check = await checker(folder)
    const rows = []
    let holds = true
    for (const [store, isCached] of [
      ['sqlite', false],
      ['sqlite', true],
      ['mongodb', false],
      ['mongodb', true],
    ] as const) {
      const place = await scene(store, isCached)
      const history = await recorded(place, seconds, isCached)
      await place.stop()
      const [verdict, selfCheck] = [await check(history), await check(withStaleRead(history))]
      holds &&= verdict === 'linearizable' && selfCheck === 'not linearizable'
      const count = (wanted: Partial<Request>) =>
        history.filter(
          ({ kind, outcome }) =>
            (wanted.kind ?? kind) === kind && (wanted.outcome ?? outcome) === outcome,
        ).length
      rows.push({
        store,
        cache: isCached ? 'Valkey' : 'none',
        reads: count({ kind: 'read' }),
        writes: count({ kind: 'write' }),
        'If-Match': count({ kind: 'swap' }),
        'of them 412': count({ outcome: 'refused' }),
        unknown: count({ outcome: 'unknown' }),
        verdict,
        'with a stale read': selfCheck,
      })
    }
    await rm(folder, { recursive: true, force: true })
    return { rows, holds }
  },
})

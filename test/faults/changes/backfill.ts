/**
 * The atlas's cities after a change of their model, under clients: `fieldgate check`, then `fieldgate backfill`, killed
 * three times: `npm run faults -- backfill --cities 1000000 --store sqlite`.
 *
 * @module
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Model } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import { FROM_SOURCE } from '../../runtimes/commands.ts'
import { mongo } from '../../services/mongo.ts'
import { send } from '../notes/clients.ts'
import { median, part, type Report } from '../report.ts'
import { Before, Now, storeAt } from './cities.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** `npm run faults -- backfill`. */
export const backfill = part({
  about: 'check and backfill after a change of the model, three kills, clients meanwhile',
  options: { cities: 1_000_000, store: 'sqlite' },
  async run({ cities, store }): Promise<Report> {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
    const service = store === 'mongodb' ? await mongo() : undefined
    const place = service ? withDatabase(service.url) : join(folder, 'cities.db')
    try {
      const ids = await seed(place, cities)
      return await measured(place, ids)
    } finally {
      await service?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** A step of the trial, as a row of the table. */
type Row = Readonly<Record<string, number | string>>

async function measured(place: string, ids: readonly string[]): Promise<Report> {
  const rows: Row[] = []
  const server = command(place, [file('app.ts'), 'serve'])
  const [url] = await once(createInterface(server.stdout), 'line')
  const clients = new Clients(String(url), ids)
  const note = async (step: string, work: () => Promise<Row>) => {
    const begun = performance.now()
    const seen = clients.begin()
    const row = await work()
    const seconds = Math.round((performance.now() - begun) / 100) / 10
    rows.push({ step, seconds, result: '', memoryMb: '', ...row, ...(await seen()) })
  }
  await note('nothing', async () => {
    await delay(10_000)
    return {}
  })
  await note('check', () => fieldgate(place, 'check'))
  for (const kill of [1, 2, 3]) {
    const afterMs = 2000 + Math.random() * 5000
    await note(`backfill, kill ${kill}`, () => fieldgate(place, 'backfill', afterMs))
  }
  await note('backfill, to its end', () => fieldgate(place, 'backfill'))
  await note('check again', () => fieldgate(place, 'check'))
  await note('nothing again', async () => {
    await delay(10_000)
    return {}
  })
  server.kill('SIGTERM')
  await once(server, 'close')
  const wrong = await misfits(place)
  rows.push({ step: 'records not as they should be', result: wrong })
  const isFine = rows.every(({ failed = 0 }) => failed === 0) && clients.lost.length === 0
  return { rows, holds: wrong === 0 && isFine }
}

/** Runs a command and tells its last line and the most memory it had; kills it after `killMs`. */
async function fieldgate(place: string, name: string, killMs?: number): Promise<Row> {
  const run = command(place, [file('../../../adapters/cli/fieldgate.ts'), name, file('app.ts')])
  const closed = once(run, 'close')
  let memoryMb = 0
  const looking = setInterval(async () => {
    const status = await readFile(`/proc/${run.pid}/status`, 'utf8').catch(() => '')
    memoryMb = Math.max(memoryMb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000)
  }, 200)
  const killing = killMs === undefined ? undefined : setTimeout(() => run.kill('SIGKILL'), killMs)
  const [out, err] = await Promise.all([text(run.stdout), text(run.stderr)])
  await closed
  clearInterval(looking)
  clearTimeout(killing)
  const last = (lines: string) => lines.trim().split('\n').at(-1) ?? ''
  return { result: last(out) || last(err), memoryMb: Math.round(memoryMb) }
}

function command(place: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const flags = [FROM_SOURCE, '--disable-warning=ExperimentalWarning']
  return spawn(process.execPath, [...flags, ...args], { env: { ...process.env, CITIES: place } })
}

/** What clients ask for while something else goes on, one request after the other, and how long they wait. */
class Clients {
  /** Cities whose last acknowledged population is not what a read shows. */
  readonly lost: string[] = []
  readonly #url: string
  readonly #ids: readonly string[]
  #n = 0

  constructor(url: string, ids: readonly string[]) {
    this.#url = `${url}/cities`
    this.#ids = ids
  }

  /** Begins; the returned function ends it and tells what they saw. */
  begin(): () => Promise<Row> {
    const times: Readonly<Record<'read' | 'list' | 'write', number[]>> = {
      read: [],
      list: [],
      write: [],
    }
    let failed = 0
    let isOver = false
    const timed = async (kind: keyof typeof times, request: () => ReturnType<typeof send>) => {
      const begun = performance.now()
      const reply = await request()
      times[kind].push(performance.now() - begun)
      if (reply?.status !== 200) failed += 1
      return reply
    }
    const asking = (async () => {
      while (!isOver) {
        const id = this.#ids[Math.floor(Math.random() * this.#ids.length)]
        const one = `${this.#url}/${id}`
        await timed('read', () => send('GET', one))
        await timed('list', () => send('GET', `${this.#url}?sort=-population&pageSize=20`))
        this.#n += 1
        const population = this.#n
        await timed('write', () => send('PATCH', one, { population }))
        const reply = await timed('read', () => send('GET', one))
        const data = reply?.body.data as { population?: number } | undefined
        if (data?.population !== population) this.lost.push(one)
        await delay(20)
      }
    })()
    return async () => {
      isOver = true
      await asking
      const of = (values: readonly number[]) =>
        `${median(values).toFixed(1)}, ${median(values, 0.99).toFixed(1)}, ${Math.max(...values).toFixed(0)}`
      return { read: of(times.read), list: of(times.list), write: of(times.write), failed }
    }
  }
}

/** Stores cities under the model of before; resolves to the ids of some of them. */
async function seed(place: string, cities: number): Promise<string[]> {
  const store = storeAt(place)
  const schema = collectionSchema(Before as unknown as Model)
  await store.prepare([schema])
  const collection = store.collection(schema)
  const ids: string[] = []
  const at = new Date()
  const country = 'c'.repeat(24)
  for (let from = 0; from < cities; from += 2000) {
    const numbers = Array.from({ length: Math.min(2000, cities - from) }, (_, i) => from + i)
    await Promise.all(
      numbers.map((n) => {
        const _id = `6${n.toString(16).padStart(23, '0')}`
        if (n % 997 === 0) ids.push(_id)
        return collection.insert({
          ...{ _id, title: `City ${n}`, country, population: `${n}`, geonameId: n },
          ...{ latitude: (n % 180) - 90, longitude: (n % 360) - 180, createdAt: at, updatedAt: at },
        })
      }),
    )
  }
  await store.close()
  return ids
}

/** How many records are not stored as the model of now has them. */
async function misfits(place: string): Promise<number> {
  const store = storeAt(place)
  const { renamed: _, ...bare } = Now as unknown as Model
  const collection = store.collection(collectionSchema({ ...bare, renamed: new Map() } as Model))
  const whole = { op: 'and', filters: [] } as const
  const fine = await collection.count({
    ...whole,
    filters: [
      { op: 'ne', field: 'name', value: null },
      { op: 'gte', field: 'population', value: 0 },
      { op: 'eq', field: 'capital', value: false },
    ],
  })
  const all = await collection.count(everything)
  await store.close()
  return all - fine
}

function withDatabase(url: string): string {
  const address = new URL(url)
  address.pathname = `/backfill-${Date.now()}`
  return String(address)
}

/**
 * `npm run bench:seeing`: what it costs a request to be logged, counted and traced, in processor time.
 *
 * Each variant is a process of its own that reads a record by its id from SQLite, one request after the other, without a
 * network. Rounds take the variants in turn; what is printed is the least of the rounds, which nothing else has disturbed, and
 * their median.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import * as z from 'zod'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { telemetry } from '../adapters/telemetry/opentelemetry.ts'
import { health, metrics } from '../src/health/index.ts'
import { type App, type AppOptions, createApp, createRouter, defineModel } from '../src/index.ts'

const WARM = 20_000
const REQUESTS = 60_000
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)

const sink = openSync(devNull, 'w')
const line = (message: string, details?: object) =>
  void writeSync(sink, `${JSON.stringify({ time: new Date(), message, ...details })}\n`)
const logger = { debug: line, info: line, warn: line, error: line }

interface Variant {
  readonly options?: Partial<AppOptions>
  prepare?(app: App): void
}

const variants: Readonly<Record<string, () => Variant>> = {
  nothing: () => ({}),
  'health()': () => ({ prepare: (app) => void app.mount('/', health()) }),
  'metrics()': () => ({ prepare: (app) => void app.mount('/', metrics()) }),
  'slowMs: 200': () => ({ options: { slowMs: 200 } }),
  'accessLog: true': () => ({ options: { accessLog: true } }),
  'telemetry() without an SDK': () => ({ options: { telemetry: telemetry() } }),
  'telemetry() with an SDK': () => ({
    options: { telemetry: telemetry() },
    prepare: () => {
      const nowhere = {
        export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
        shutdown: async () => {},
      }
      const processor = new BatchSpanProcessor(nowhere)
      new NodeTracerProvider({ spanProcessors: [processor] }).register()
    },
  }),
}

/** Microseconds of processor time that a request takes. */
async function measured(name: string): Promise<number> {
  const { options = {}, prepare } = variants[name]?.() ?? {}
  const app = createApp({ store: sqliteStore(), logger, ...options })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  app.mount('/notes', createRouter({ model: Note, middlewares: [] }))
  prepare?.(app)
  const { _id } = await app.store.collection(Note).insert({ text: 'one' })
  const url = `http://localhost/notes/${_id}`
  const ask = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      const response = await app.handle(new Request(url))
      if (response.status !== 200) throw new Error(`${response.status}`)
    }
  }
  await ask(WARM)
  const before = process.cpuUsage()
  await ask(REQUESTS)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const [chosen] = process.argv.slice(2)
if (chosen !== undefined) {
  console.log(await measured(chosen))
  process.exit()
}
const names = Object.keys(variants)
const seen = new Map(names.map((name) => [name, [] as number[]]))
for (let round = 0; round < ROUNDS; round += 1) {
  for (const name of round % 2 === 0 ? names : names.toReversed()) {
    const args = [...process.execArgv, '--no-warnings', fileURLToPath(import.meta.url), name]
    seen.get(name)?.push(Number(execFileSync(process.execPath, args, { encoding: 'utf8' })))
  }
}
for (const [name, values] of seen) {
  const [least, middle] = [Math.min(...values), median(values)]
  console.log(`${name.padEnd(28)} ${least.toFixed(1)} µs, median ${middle.toFixed(1)} µs`)
}

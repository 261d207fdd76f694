/**
 * `npm run bench:seeing`: what it costs a request to be logged, counted and traced, in processor time.
 *
 * Each request reads a record by its id from SQLite.
 *
 * @module
 */

import { openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import * as z from 'zod'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { telemetry } from '../adapters/telemetry/opentelemetry.ts'
import { health, metrics } from '../src/health/index.ts'
import { type App, type AppOptions, createApp, createRouter, defineModel } from '../src/index.ts'
import { compare, type Send } from './processor-time.ts'

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

/** An app with one record, which each request reads. */
async function started({ options = {}, prepare }: Variant): Promise<Send> {
  const app = createApp({ store: sqliteStore(), logger, ...options })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  app.mount('/notes', createRouter({ model: Note, middlewares: [] }))
  prepare?.(app)
  const { _id } = await app.store.collection(Note).insert({ text: 'one' })
  const url = `http://localhost/notes/${_id}`
  return async () => {
    const response = await app.handle(new Request(url))
    if (response.status !== 200) throw new Error(`${response.status}`)
  }
}

const starts = Object.entries(variants).map(
  ([name, variant]) => [name, () => started(variant())] as const,
)
await compare(import.meta.url, Object.fromEntries(starts))

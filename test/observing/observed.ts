/**
 * An app of notes whose log is kept, for the tests of what can be seen of it.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, type AppOptions, createApp, createRouter, defineModel } from '../../src/index.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'

/** A line of the log: level, message and details. */
export type Line = readonly [
  level: string,
  message: string,
  details: Readonly<Record<string, unknown>>,
]

/** The app, what it has logged, and a way to ask it. */
export interface Observed {
  readonly app: App
  readonly lines: Line[]
  /** The lines with this message. */
  said(message: string): Line[]
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** An app with notes, and routes that fail in each way. */
export function observedApp(options: Partial<AppOptions> = {}): Observed {
  const lines: Line[] = []
  const line = (level: string) => (message: string, details: object | undefined) =>
    void lines.push([level, message, { ...details }])
  const logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  }
  const app = createApp({ store: sqliteStore(), logger, ...options })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  const router = createRouter({
    model: Note,
    allowedFields: ['text'],
    middlewares: [],
    onGet: () => {
      throw new Error('no view')
    },
    runAfterCreate: () => {
      throw new Error('not after that')
    },
  })
  router.get('/broken', () => {
    throw new Error('broken')
  })
  router.get('/out', () => {
    throw new StoreUnavailable('no database')
  })
  router.get('/own', (_request, { logger }) => {
    logger.warn('an own line', { own: true })
    return Response.json({})
  })
  app.mount('/notes', router)
  return {
    app,
    lines,
    said: (message) => lines.filter(([, said]) => said.includes(message)),
    ask: (path, init) => app.handle(new Request(`http://localhost${path}`, init)),
  }
}

/** A POST of a note. */
export function note(text: string, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ text }),
  }
}

/** A store in memory whose reads take `ms` longer, and fail then with `failure`. */
export function slowStore(ms: number, failure?: string): Store {
  const store = sqliteStore()
  const slowly = async <T>(read: () => Promise<T>): Promise<T> => {
    await sleep(ms)
    if (failure !== undefined) throw new Error(failure)
    return read()
  }
  return {
    ...store,
    collection(schema) {
      if (schema.name.startsWith('fieldgate_')) return store.collection(schema)
      const { findJson, ...collection } = store.collection(schema)
      return { ...collection, find: (read) => slowly(() => collection.find(read)) }
    },
  }
}

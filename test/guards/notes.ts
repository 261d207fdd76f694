/**
 * An app of notes behind guards, as the tests of guards drive it.
 *
 * @module
 */

import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type Guard,
  type Platform,
} from '../../src/index.ts'

/** What a request carries. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly platform?: Platform
}

/** An app, its log, and a way to ask it. */
export interface Notes {
  readonly app: App
  /** The messages of its log. */
  readonly messages: string[]
  ask(method: string, path: string, sent?: Sent): Promise<Response>
  /** How many notes are stored. */
  count(): Promise<number>
}

/** The model of the app. */
export const Note = defineModel('GuardedNote', { fields: { text: z.string().max(20) } })

/** An app with `guards` before all routers; notes at `/notes` with options of `router`, and at `/own` behind `middlewares`. */
export function notes(
  guards: readonly Guard[],
  options: Partial<AppOptions> = {},
  middlewares: readonly Guard[] = [],
  router: object = {},
): Notes {
  const messages: string[] = []
  const line = (message: string) => void messages.push(message)
  const logger = { debug: line, info: line, warn: line, error: line }
  const app = createApp({ store: sqliteStore(), logger, ...options })
  onTestFinished(() => app.close())
  for (const guard of guards) app.use(guard)
  const own = createRouter({ model: Note, allowedFields: ['text'], middlewares })
  own.get('/broken', () => {
    throw new Error('broken')
  })
  app.mount('/own', own)
  app.mount(
    '/notes',
    createRouter({ model: Note, allowedFields: ['text'], middlewares: [], ...router }),
  )
  return {
    app,
    messages,
    ask: (method, path, { headers, json, platform } = {}) =>
      app.handle(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(json !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(json !== undefined && { body: JSON.stringify(json) }),
        }),
        undefined,
        platform,
      ),
    count: () => app.store.collection(Note).count(),
  }
}

/** The error of a refusal. */
export async function errorOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error?: unknown }
  return error
}

/**
 * Two slow requests at the same time, and what is logged of them: for any runtime.
 *
 * @module
 */

import * as z from 'zod/mini'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import type { Store } from '../../src/ports/store/store.ts'

/** The ids in the lines about slow calls of the store, sorted; `none` where a line has none. */
export async function slowLines(store: Store): Promise<string[]> {
  const ids: string[] = []
  const quiet = () => {}
  const warn = (_: string, details: Readonly<Record<string, unknown>> = {}) =>
    void ids.push(String(details.requestId ?? 'none'))
  const slow: Store = {
    ...store,
    collection(schema) {
      const { findJson: _, ...collection } = store.collection(schema)
      return {
        ...collection,
        async find(read) {
          await new Promise((resolve) => setTimeout(resolve, 30))
          return collection.find(read)
        },
      }
    },
  }
  const app = createApp({
    store: slow,
    slowMs: 20,
    logger: { debug: quiet, info: quiet, warn, error: quiet },
  })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  app.mount('/notes', createRouter({ model: Note, middlewares: [] }))
  await app.ready()
  ids.length = 0
  const asked = ['one', 'two'].map((id) =>
    app.handle(new Request('http://localhost/notes', { headers: { 'X-Request-Id': id } })),
  )
  await Promise.all(asked)
  return ids.sort()
}

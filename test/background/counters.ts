/**
 * Counters, whose changes are logged: each says how often it was changed.
 *
 * @module
 */

import * as z from 'zod'
import { type App, createRouter, defineModel } from '../../src/index.ts'

export const Counter = defineModel('Counter', {
  fields: { name: z.string(), count: z.number().int() },
  changes: true,
})

/** An app with public counters. */
export function counters(app: App): App {
  app.mount('/counters', createRouter({ model: Counter, middlewares: [], allowedFields: ['name'] }))
  return app
}

/** Makes `count` counters, each of which is changed so often; resolves to their ids. */
export async function countUp(app: App, count: number, changes: number): Promise<string[]> {
  const own = app.store.collection(Counter)
  const ids: string[] = []
  const counter = async () => {
    while (ids.length < count) {
      const at = ids.push('') - 1
      const { _id } = await own.insert({ name: `${at}`, count: 0 })
      ids[at] = _id
      for (let to = 1; to <= changes; to += 1) await own.update(_id, { count: to })
    }
  }
  await Promise.all(Array.from({ length: 10 }, counter))
  return ids
}

import { expect, it } from 'vitest'
import * as z from 'zod'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { recordedLog } from '../records/service.ts'
import { freshD1 } from '../stores/d1/databases.ts'

const fresh = await freshD1(1)

it('a Worker that starts asks D1 as little with many models as with one', async () => {
  const binding = fresh()
  let queries = 0
  const counting: D1Binding = {
    prepare(sql) {
      queries += 1
      return binding.prepare(sql)
    },
    batch: (statements) => binding.batch(statements),
  }
  const queriesToStart = async (models: number): Promise<number> => {
    const app = createApp({ store: d1Store(counting), logger: recordedLog(), env: {} })
    for (let at = 0; at < models; at += 1) {
      const model = defineModel(`Thing${at}`, {
        fields: { name: z.string(), note: z.string().optional() },
        unique: ['name'],
      })
      const router = { model, query: ['name'], search: ['name', 'note'], middlewares: [] } as const
      app.mount(`/things${at}`, createRouter(router))
    }
    queries = 0
    await app.ready()
    await app.close()
    return queries
  }
  await queriesToStart(30)
  expect([await queriesToStart(1), await queriesToStart(30)]).toEqual([5, 5])
})

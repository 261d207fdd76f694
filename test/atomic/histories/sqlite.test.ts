import { expect, it } from 'vitest'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { historyOver, within } from './run.ts'
import { worldOn } from './world.ts'

it('some order of all calls explains what each of them saw', async () => {
  const app = worldOn(sqliteStore(), memoryCache())
  const { faults, counts } = await historyOver([within(app)], { clients: 8, ms: 1000 })
  await app.close()
  expect(counts['step 200']).toBeGreaterThan(0)
  expect(faults).toEqual([])
})

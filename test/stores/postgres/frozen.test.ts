import type { Sql } from 'postgres'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  ConnectionPool,
  PooledConnection,
} from '../../../adapters/stores/postgres/connection/pooled-connection.ts'

it('a process that was frozen uses no connection of before: the server has forgotten it', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended: PooledConnection[] = []
  const pool = new ConnectionPool({
    most: 3,
    make: () => new PooledConnection({} as Sql),
    end: async (pooled) => void ended.push(pooled),
  })
  onTestFinished(() => pool.end())
  const used = () => pool.use(async (pooled) => pooled)
  const before = await Promise.all([used(), used()])
  vi.setSystemTime(Date.now() + 59_000)
  expect(before).toContain(await used())
  // No timer has run meanwhile.
  vi.setSystemTime(Date.now() + 61_000)
  expect(before).not.toContain(await used())
  expect(new Set(ended)).toEqual(new Set(before))
})

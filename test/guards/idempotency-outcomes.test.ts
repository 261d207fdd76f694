import { expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { orders, outcomes } from './outcomes.ts'

outcomes('SQLite', () => sqliteStore())

it('a request that was left for a minute is carried out by the next one, and can write no more', async () => {
  const clock = { now: Date.now() }
  const { ask, state, count } = orders(sqliteStore(), clock)
  let goOn = () => {}
  state.wait = new Promise((resolve) => {
    goOn = resolve
  })
  const first = ask('POST', '/orders', 'k', { code: 'x' })
  await expect.poll(async () => (await ask('POST', '/orders', 'k', { code: 'x' })).status).toBe(409)
  clock.now += 61_000
  state.wait = Promise.resolve()
  const second = await ask('POST', '/orders', 'k', { code: 'x' })
  expect([second.status, second.replayed]).toEqual([201, false])
  goOn()
  expect((await first).status).toBe(409)
  expect(await count()).toBe(1)
  expect(await ask('POST', '/orders', 'k', { code: 'x' })).toEqual({ ...second, replayed: true })
})

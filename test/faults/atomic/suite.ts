/**
 * Atomic steps and exclusions in two processes over one database.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../../src/index.ts'
import { faultsOf, fill, type Step } from '../../atomic/slots.ts'
import { runs } from '../../runs.ts'
import { appAt, Booking, Move, Purse, type Where } from './place.ts'
import { startWorker, type Worker } from './process.ts'

/** Registers the trials for the store with this name, which all find the same place. */
export function inTwoProcesses(store: string, place: () => Where): void {
  describe(store, { timeout: 600_000 }, () => {
    const where = place()
    let app: App
    let workers: readonly Worker[] = []
    beforeAll(async () => {
      app = appAt(where)
      await app.ready()
      workers = await Promise.all([startWorker(where), startWorker(where)])
    })
    afterAll(async () => {
      for (const one of workers) await one.kill()
      await app.close()
    })

    it('of 100 overlapping bookings from two processes, one is taken', async () => {
      for (let round = 0; round < runs(1); round += 1) {
        const room = `room ${round}`
        const told = await Promise.all(workers.map((one) => one.does({ bookings: 50, room })))
        console.info(`${store}, bookings of ${room}:`, told)
        const found = await app.store.collection(Booking).find({ room })
        expect(found).toHaveLength(1)
        const taken = told.map((one) => (one as Record<number, number>)[201] ?? 0)
        expect(taken.sort()).toEqual([0, 1])
      }
    })

    it('atomic steps in two processes come to the same as one after the other', async () => {
      await fill(app)
      const all: Step[] = []
      for (let round = 0; round < runs(2); round += 1) {
        const told = await Promise.all(
          workers.map((one, at) => one.does({ steps: 15, tag: `${'pq'[at]}${round}-` })),
        )
        all.push(...(told.flat() as Step[]))
      }
      const ends = Object.groupBy(all, ({ end }) => end)
      const counts = Object.entries(ends).map(([end, some]) => [end, some?.length])
      console.info(`${store}, steps in two processes:`, Object.fromEntries(counts))
      expect(await faultsOf(app, all)).toEqual([])
      expect(ends.stored?.length).toBeGreaterThan(0)
    })

    // The last one: it kills them.
    it('an atomic step that is killed is whole or has not been', async () => {
      const toll = { kills: 0, told: 0, untold: 0, broken: [] as string[] }
      for (let round = 0; round < runs(2); round += 1) {
        // New ones each time: MongoDB keeps the locks of a killed process for a minute.
        const names = ['a', 'b', 'c'].map((one) => `${one} ${round}`)
        for (const name of names) {
          await app.store.collection(Purse).insert({ name, coins: 0, last: '' })
        }
        const told = await killedWhileMoving(workers[round] ?? (await startWorker(where)), names)
        let broken = await brokenIn(app, names, told)
        // A commit that the kill has overtaken may still arrive between two reads.
        if (broken.length > 0) broken = await brokenIn(app, names, told)
        toll.broken.push(...broken)
        toll.kills += 1
        toll.told += told.length
        toll.untold += (await app.store.collection(Move).find()).length - toll.told - toll.untold
      }
      console.info(`${store}, kills:`, { ...toll, broken: toll.broken.length })
      expect(toll.broken).toEqual([])
      expect(toll.told).toBeGreaterThan(0)
    })
  })
}

/** Lets a process move coins, then kills it; resolves to the moves that it has told. */
async function killedWhileMoving(worker: Worker, names: readonly string[]): Promise<string[]> {
  const told: string[] = []
  const first = Promise.withResolvers<void>()
  void worker.does({ moves: names }, (move) => {
    told.push(move)
    first.resolve()
  })
  await first.promise
  await delay(Math.random() * 60)
  await worker.kill()
  return told
}

/** What is half of a step, as sentences. */
async function brokenIn(
  app: App,
  names: readonly string[],
  told: readonly string[],
): Promise<string[]> {
  const purses = await app.store.collection(Purse).find({ name: names }, { sort: 'name' })
  const moves = (await app.store.collection(Move).find()).filter(({ name }) =>
    name.startsWith(`${names[0]} `),
  )
  const lost = told.filter((one) => !moves.some(({ name }) => name === one))
  const [last, ...others] = new Set(purses.map((one) => one.last))
  const coins = purses.map((one) => one.coins)
  const expected = [2 * moves.length, -moves.length, -moves.length]
  return [
    ...lost.map((one) => `${one} was told and is not there`),
    ...(others.length > 0 ? [`${names} end with ${last} and ${others}`] : []),
    ...(coins.join() === expected.join()
      ? []
      : [`${names} hold ${coins} after ${moves.length} moves`]),
  ]
}

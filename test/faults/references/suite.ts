/**
 * References under processes that race and are killed, on any store that several processes can open.
 *
 * @module
 */

import { expect, it, onTestFinished } from 'vitest'
import { runs } from '../../runs.ts'
import { killRemovers } from './kill.ts'
import { startRacer } from './process.ts'
import { race } from './race.ts'
import { storeAt, type Where, worldOn } from './world.ts'

/** Registers both trials for the store with this name. Thirty rounds miss an id that is looked up before the write alone. */
export function references(store: string, newPlace: () => Where, rounds = 60): void {
  it(`${store}: no reference dangles when two processes race`, { timeout: 600_000 }, async () => {
    const where = newPlace()
    const world = worldOn(storeAt(where))
    onTestFinished(() => world.close())
    await world.app.ready()
    const [creator, remover] = await Promise.all([startRacer(where), startRacer(where)])
    onTestFinished(async () => void (await Promise.all([creator.end(), remover.end()])))
    const toll = await race(runs(rounds), { creator, remover, world })
    console.info(`${store}, race:`, toll)
    expect(toll.broken).toEqual([])
    expect(toll.created).toBeGreaterThan(0)
    expect(toll.removed).toBeGreaterThan(0)
  })

  it(`${store}: a removal that is killed is whole or has not been`, {
    timeout: 600_000,
  }, async () => {
    const toll = await killRemovers(runs(2), newPlace())
    console.info(`${store}, kills:`, toll)
    expect(toll.broken).toEqual([])
  })
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { killRemovers } from './kill.ts'
import { startRacer } from './process.ts'
import { race } from './race.ts'
import { storeAt, type Where, worldOn } from './world.ts'

/** More with ROUNDS=1000 and KILLS=300. */
const ROUNDS = Number(process.env.ROUNDS ?? 300)
const KILLS = Number(process.env.KILLS ?? 10)

function newPlace(): Where {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-references-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { path: join(folder, 'world.db') }
}

it('SQLite: no reference dangles when two processes race', { timeout: 600_000 }, async () => {
  const where = newPlace()
  const world = worldOn(storeAt(where))
  onTestFinished(() => world.close())
  await world.app.ready()
  const [creator, remover] = await Promise.all([startRacer(where), startRacer(where)])
  onTestFinished(async () => void (await Promise.all([creator.end(), remover.end()])))
  const toll = await race(ROUNDS, { creator, remover, world })
  console.info('SQLite, race:', toll)
  expect(toll.broken).toEqual([])
  expect(toll.created).toBeGreaterThan(0)
  expect(toll.removed).toBeGreaterThan(0)
})

it('SQLite: a removal that is killed is whole or has not been', { timeout: 600_000 }, async () => {
  const toll = await killRemovers(KILLS, newPlace())
  console.info('SQLite, kills:', toll)
  expect(toll.broken).toEqual([])
})

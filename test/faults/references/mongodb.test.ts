import { MongoClient } from 'mongodb'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { withService } from '../../services/shared.ts'
import { killRemovers } from './kill.ts'
import { startRacer } from './process.ts'
import { race } from './race.ts'
import { storeAt, type Where, worldOn } from './world.ts'

/** More with ROUNDS=1000 and KILLS=300. */
const ROUNDS = Number(process.env.ROUNDS ?? 200)
const KILLS = Number(process.env.KILLS ?? 10)

await withService('mongo', ({ url }) => {
  const databases: string[] = []
  afterAll(async () => {
    const client = new MongoClient(url)
    // MongoDB waits until the transactions of killed processes expire, which takes a minute.
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  }, 300_000)

  function newPlace(): Where {
    const database = `race-${crypto.randomUUID()}`
    databases.push(database)
    return { url, database }
  }

  it('MongoDB: no reference dangles when two processes race', { timeout: 600_000 }, async () => {
    const where = newPlace()
    const world = worldOn(storeAt(where))
    onTestFinished(() => world.close())
    await world.app.ready()
    const [creator, remover] = await Promise.all([startRacer(where), startRacer(where)])
    onTestFinished(async () => void (await Promise.all([creator.end(), remover.end()])))
    const toll = await race(ROUNDS, { creator, remover, world })
    console.info('MongoDB, race:', toll)
    expect(toll.broken).toEqual([])
    expect(toll.created).toBeGreaterThan(0)
    expect(toll.removed).toBeGreaterThan(0)
  })

  it('MongoDB: a removal that is killed is whole or has not been', {
    timeout: 600_000,
  }, async () => {
    const toll = await killRemovers(KILLS, newPlace())
    console.info('MongoDB, kills:', toll)
    expect(toll.broken).toEqual([])
  })
})

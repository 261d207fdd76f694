import { expect, it, onTestFinished } from 'vitest'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { killRemovers } from './kill.ts'
import { startRacer } from './process.ts'
import { race } from './race.ts'
import { storeAt, worldOn } from './world.ts'

/** More with ROUNDS=1000 and KILLS=300. */
const ROUNDS = Number(process.env.ROUNDS ?? 300)
const KILLS = Number(process.env.KILLS ?? 10)

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('PostgreSQL: no reference dangles when two processes race', { timeout: 600_000 }, async () => {
    const where = { url, schema: fresh() }
    const world = worldOn(storeAt(where))
    onTestFinished(() => world.close())
    await world.app.ready()
    const [creator, remover] = await Promise.all([startRacer(where), startRacer(where)])
    onTestFinished(async () => void (await Promise.all([creator.end(), remover.end()])))
    const toll = await race(ROUNDS, { creator, remover, world })
    console.info('PostgreSQL, race:', toll)
    expect(toll.broken).toEqual([])
    expect(toll.created).toBeGreaterThan(0)
    expect(toll.removed).toBeGreaterThan(0)
  })

  it('PostgreSQL: a removal that is killed is whole or has not been', {
    timeout: 600_000,
  }, async () => {
    const toll = await killRemovers(KILLS, { url, schema: fresh() })
    console.info('PostgreSQL, kills:', toll)
    expect(toll.broken).toEqual([])
  })
})

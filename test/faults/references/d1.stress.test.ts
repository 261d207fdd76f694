import { expect, it } from 'vitest'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { runs } from '../../runs.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { race } from './race.ts'
import { worldOn } from './world.ts'

const fresh = await freshD1(1)

it('D1: no reference dangles when two apps race', { timeout: 600_000 }, async () => {
  const binding = fresh()
  const [world, creator, remover] = [binding, binding, binding].map((one) =>
    worldOn(d1Store(one)),
  ) as [ReturnType<typeof worldOn>, ReturnType<typeof worldOn>, ReturnType<typeof worldOn>]
  await world.app.ready()
  const toll = await race(runs(10), { creator, remover, world })
  console.info('D1, race:', toll)
  expect(toll.broken).toEqual([])
  expect(toll.created).toBeGreaterThan(0)
  expect(toll.removed).toBeGreaterThan(0)
})

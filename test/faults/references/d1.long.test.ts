import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, expect, it } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { runs } from '../../runs.ts'
import { race } from './race.ts'
import { worldOn } from './world.ts'

const workerd = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: 'export default { fetch: () => new Response() }',
    compatibilityDate: '2026-01-01',
    d1Databases: ['DB'],
  }),
)
afterAll(() => workerd.dispose())

it('D1: no reference dangles when two apps race', { timeout: 600_000 }, async () => {
  const binding = (await workerd.getD1Database('DB')) as unknown as D1Binding
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

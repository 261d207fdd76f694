import { expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { day, runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { scenarios, wrongIn } from './scenarios.ts'
import { WIRE_KINDS, Wire } from './wire.ts'

const title =
  'what is acknowledged is there, and what is refused can be repeated, whichever message is lost'
const timeout = Math.max(900_000, runs(300_000))
// Odd, so that every other day comes to all cases in the end.
const every = Math.max(1, Math.ceil(59 / runs(1)))

/** What no store is to blame for needs no other: each scenario is on one of the two, and on the next day on the other one. */
const half = (which: 0 | 1) => scenarios.filter((_, at) => runs(1) > 1 || (at + day) % 2 === which)

/** A way to the database at `url` that breaks, and its address. */
async function brokenWay(url: string) {
  const { hostname, port } = new URL(url)
  const wire = new Wire(hostname, Number(port))
  onTestFinished(() => wire.close())
  return { faults: () => wire.faults(), kinds: WIRE_KINDS, url: await wire.urlOf(url) }
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it(`${title}: PostgreSQL`, { timeout }, async () => {
    const { url: way, ...ground } = await brokenWay(url)
    const schema = fresh()
    const open = () => postgresStore({ url: way, schema, max: 4 })
    const wrong = await wrongIn({ open, ...ground }, half(0), { every, from: day })
    expect(wrong, `FIELDGATE_DAY=${day}`).toEqual([])
  })
})

await withService('mongo', ({ url }) => {
  it(`${title}: MongoDB`, { timeout }, async () => {
    const { url: way, ...ground } = await brokenWay(url)
    const database = `steps-${crypto.randomUUID()}`
    const direct = new URL(way)
    direct.searchParams.set('directConnection', 'true')
    const open = () => mongoStore({ url: direct.href, database })
    const wrong = await wrongIn({ open, ...ground }, half(1), { every, from: day })
    expect(wrong, `FIELDGATE_DAY=${day}`).toEqual([])
  })
})

/**
 * Two writers, one of which refers to a country while the other removes it.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Racer } from './process.ts'
import { dangling, type Told, type World } from './world.ts'

/** One of the two writers. */
type Asker = Pick<Racer, 'ask'>

/** What a race has come to. */
export interface RaceToll {
  readonly rounds: number
  /** Records that were created in time. */
  created: number
  /** Creations that came too late. */
  refused: number
  removed: number
  /** Removals that `restrict` refused. */
  restricted: number
  /** What did not hold. */
  readonly broken: string[]
}

const KINDS = ['cities', 'streets', 'treaties', 'trips', 'notes'] as const
/** Creations at once. */
const CREATIONS = 3

/** Races `creator` against `remover` for as many countries as there are rounds; `world` looks at what is left. */
export async function race(
  rounds: number,
  { creator, remover, world }: { creator: Asker; remover: Asker; world: World },
): Promise<RaceToll> {
  const toll: RaceToll = { rounds, created: 0, refused: 0, removed: 0, restricted: 0, broken: [] }
  // Creations begin at any moment of a removal.
  let removalMs = 0
  for (let round = 0; round < rounds; round += 1) {
    const kind = KINDS[round % KINDS.length] ?? 'cities'
    const name = `round ${round}`
    const country = await made(world, 'countries', { name })
    const city = await made(world, 'cities', { name, country })
    const json = {
      name,
      ...(kind === 'streets' && { city }),
      ...(kind === 'trips' ? { countries: [country] } : { country }),
    }
    const create = async () => {
      await delay(Math.random() * removalMs)
      return creator.ask({ method: 'POST', path: `/${kind}`, json })
    }
    const creations = Array.from({ length: CREATIONS }, create)
    const begun = performance.now()
    noteRemoval(toll, await remover.ask({ method: 'DELETE', path: `/countries/${country}` }))
    removalMs = performance.now() - begun
    for (const told of await Promise.all(creations)) noteCreation(toll, told)
    toll.broken.push(...(await dangling(world, name)))
  }
  return toll
}

async function made(world: World, path: string, json: object): Promise<string> {
  const { status, said } = await world.ask({ method: 'POST', path: `/${path}`, json: { ...json } })
  if (status !== 201) throw new Error(`${path}: ${status} ${said}`)
  return said
}

function noteCreation(toll: RaceToll, { status, said }: Told): void {
  if (status === 201) toll.created += 1
  else if (status === 400 && said.startsWith('Invalid value for ')) toll.refused += 1
  else toll.broken.push(`POST: ${status} ${said}`)
}

function noteRemoval(toll: RaceToll, { status, said }: Told): void {
  if (status === 200) toll.removed += 1
  else if (status === 409 && said === 'Entry is still referenced by RaceTreaty.') {
    toll.restricted += 1
  } else toll.broken.push(`DELETE: ${status} ${said}`)
}

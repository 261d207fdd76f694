/**
 * Kills a process while it removes countries with all that refers to them, and looks whether each is there whole or
 * gone whole.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { startRacer } from './process.ts'
import { dangling, storeAt, type Where, type World, worldOn } from './world.ts'

/** What the kills have come to. */
export interface KillToll {
  readonly kills: number
  /** Countries that were removed, with everything. */
  removed: number
  /** Countries that were left as they were. */
  left: number
  /** Kills that cut off a removal before its response. */
  cut: number
  readonly broken: string[]
}

const COUNTRIES = 5
const CITIES = 6
const STREETS = 6
/** The longest that a process lives while it removes, in milliseconds. */
const LONGEST_MS = 150

/** Kills as many processes as there are rounds, over the records at one place. */
export async function killRemovers(rounds: number, where: Where): Promise<KillToll> {
  const world = worldOn(storeAt(where))
  const toll: KillToll = { kills: rounds, removed: 0, left: 0, cut: 0, broken: [] }
  try {
    for (let round = 0; round < rounds; round += 1) await killOne(world, where, toll)
  } finally {
    await world.close()
  }
  return toll
}

async function killOne(world: World, where: Where, toll: KillToll): Promise<void> {
  const countries: string[] = []
  const name = crypto.randomUUID()
  for (let at = 0; at < COUNTRIES; at += 1) countries.push(await peopled(world, name))
  const racer = await startRacer(where)
  const answered: string[] = []
  // The first request of a process takes far longer than those after it.
  await racer.ask({ method: 'DELETE', path: `/countries/${countries.pop()}` })
  const removing = (async () => {
    for (const country of countries) {
      await racer.ask({ method: 'DELETE', path: `/countries/${country}` })
      answered.push(country)
    }
  })()
  await Promise.race([delay(Math.random() * LONGEST_MS), removing])
  await racer.end()
  if (answered.length < countries.length) toll.cut += 1
  // A commit that the kill has overtaken may still arrive between two reads.
  let broken = await halves(world, name, countries)
  if (broken.length > 0) broken = await halves(world, name, countries)
  toll.broken.push(...broken)
  const left = new Set((await world.all('countries', name)).map(({ _id }) => String(_id)))
  for (const country of answered) {
    if (left.has(country)) toll.broken.push(`${country} is back after its response`)
  }
  toll.left += countries.filter((country) => left.has(country)).length
  toll.removed += countries.filter((country) => !left.has(country)).length
}

/** A country of this name, with cities, their streets, a trip and a note. */
async function peopled(world: World, name: string): Promise<string> {
  const made = async (path: string, json: object): Promise<string> =>
    (await world.ask({ method: 'POST', path: `/${path}`, json: { name, ...json } })).said
  const country = await made('countries', {})
  await Promise.all([
    made('trips', { countries: [country] }),
    made('notes', { country }),
    ...Array.from({ length: CITIES }, async () => {
      const city = await made('cities', { country })
      await Promise.all(Array.from({ length: STREETS }, () => made('streets', { city })))
    }),
  ])
  return country
}

/** The countries of which a part is there, as sentences. */
async function halves(world: World, name: string, countries: readonly string[]): Promise<string[]> {
  const cities = await world.all('cities', name)
  const streets = await world.all('streets', name)
  const trips = await world.all('trips', name)
  const notes = await world.all('notes', name)
  const left = new Set((await world.all('countries', name)).map(({ _id }) => _id))
  const found = countries.map((country) => {
    const own = new Set(cities.filter((one) => one.country === country).map(({ _id }) => _id))
    return [
      left.has(country) ? 1 : 0,
      own.size / CITIES,
      streets.filter(({ city }) => own.has(city)).length / (CITIES * STREETS),
      trips.filter((trip) => [trip.countries].flat().includes(country)).length,
      notes.filter((note) => note.country === country).length,
    ]
  })
  const broken = found.filter((parts) => new Set(parts).size > 1).map((parts) => `half: ${parts}`)
  return [...broken, ...(await dangling(world, name))]
}

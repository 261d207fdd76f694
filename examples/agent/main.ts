/**
 * The atlas with tools for agents, and an agent that uses them: `npm run example -- examples/agent/main.ts`. It finds
 * Portugal's largest cities as anyone, and keeps a favourite as someone with an account.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { mcp } from '../../src/mcp/index.ts'
import { atlas } from '../atlas/app.ts'
import { City, Country } from '../atlas/models.ts'
import { type LargestCities, largestCities, run } from './agent.ts'

/** What the agent finds without an account, and with one. */
export async function main(): Promise<readonly LargestCities[]> {
  const secret = randomBytes(32).toString('base64url')
  const app = atlas({ store: sqliteStore(), secret })
  app.mount('/mcp', mcp({ write: ['create'], instructions: 'Countries and cities of the world.' }))
  const portugal = await app.store.collection(Country).insert({
    ...{ code: 'PT', name: 'Portugal', officialName: 'Portuguese Republic', region: 'Europe' },
    ...{ subregion: 'Southern Europe', capitals: ['Lisbon'], languages: ['Portuguese'] },
    ...{ currencies: ['EUR'], emoji: '🇵🇹' },
  })
  for (const [name, population, latitude, longitude] of CITIES) {
    const place = { name, population, latitude, longitude, capital: name === 'Lisbon' }
    await app.store.collection(City).insert({ ...place, country: portugal._id })
  }
  const fetch = (url: string, init: RequestInit) => app.handle(new Request(url, init))
  const url = 'http://localhost/mcp'
  const asAnyone = await run({ url, fetch }, largestCities('Portugal'))
  const signedUp = await fetch('http://localhost/auth/register', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'ann@example.com', password: 'a long pass phrase' }),
  })
  const { data } = (await signedUp.json()) as { data: { token: string } }
  const asAnn = await run({ url, fetch, token: data.token }, largestCities('Portugal'))
  await app.close()
  return [asAnyone, asAnn]
}

const CITIES: readonly (readonly [string, number, number, number])[] = [
  ['Braga', 121_394, 41.55, -8.42],
  ['Lisbon', 517_802, 38.72, -9.13],
  ['Amadora', 178_858, 38.75, -9.23],
  ['Porto', 249_633, 41.15, -8.61],
]

if (import.meta.main ?? process.argv[1]?.endsWith('agent/main.ts')) {
  for (const found of await main()) console.log(found)
}

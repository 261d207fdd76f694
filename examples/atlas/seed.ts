/**
 * Seeding: real countries and cities, once, resumed where it was interrupted.
 *
 * @module
 */

import type { App, Model } from '../../src/index.ts'
import { City, type CityValues, Country, type CountryValues, FinishedSeed } from './models.ts'

/** Where the rows come from. */
export interface Source {
  countries(): CountryValues[]
  /** `ids` maps a country's code to its record. */
  cities(ids: ReadonlyMap<string, string>): CityValues[]
  /** The image of a country's flag, by the country's code. */
  flag?(code: string): Uint8Array<ArrayBuffer> | undefined
}

/** Hears how far a part of the seed is. */
export interface Progress {
  start(part: string, total: number, done: number): void
  advance(done: number): void
  stop(): void
}

const silent: Progress = { start() {}, advance() {}, stop() {} }

/** Few enough that Ctrl-C is heard soon, many enough that a commit is worth its fsync. */
const BATCH = 1000

/**
 * Seeds what is not there yet; an aborted `signal` ends between two batches. Resolves to whether the seed is
 * complete.
 */
export async function seed(
  app: App,
  source: Source,
  progress: Progress = silent,
  signal?: AbortSignal,
): Promise<boolean> {
  await app.ready()
  const part = { app, progress, signal }
  const countries = () => source.countries()
  if (!(await seedPart({ ...part, model: Country, key: 'code', rows: countries }))) return false
  const ids = new Map<string, string>()
  for (const { code, _id } of await app.store.collection(Country).find()) ids.set(code, _id)
  if (source.flag && !(await seedFlags({ ...part, ids, flag: source.flag }))) return false
  const rows = () => source.cities(ids)
  return seedPart({ ...part, model: City, key: 'geonameId', rows })
}

interface Flags {
  readonly app: App
  readonly ids: ReadonlyMap<string, string>
  readonly flag: NonNullable<Source['flag']>
  readonly progress: Progress
  readonly signal: AbortSignal | undefined
}

/** Uploads the flags as any client would; a country that has one is left alone. */
async function seedFlags({ app, ids, flag, progress, signal }: Flags): Promise<boolean> {
  const finished = app.store.collection(FinishedSeed)
  if (await finished.findOne({ name: 'flags' })) return true
  const countries = app.store.collection(Country)
  progress.start('flags', ids.size, 0)
  let done = 0
  try {
    for (const [code, id] of ids) {
      if (signal?.aborted) return false
      const image = flag(code)
      if (image && (await countries.findById(id))?.flag === undefined) {
        await upload(app, id, code, image)
      }
      done += 1
      progress.advance(done)
    }
  } finally {
    progress.stop()
  }
  await finished.insert({ name: 'flags' })
  return true
}

async function upload(
  app: App,
  id: string,
  code: string,
  image: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const body = new FormData()
  body.set('flag', new File([image], `${code}.png`, { type: 'image/png' }))
  const request = new Request(`http://localhost/countries/${id}`, { method: 'PATCH', body })
  const response = await app.handle(request)
  if (!response.ok) throw new Error(`the flag of ${code}: ${await response.text()}`)
}

interface Part<R> {
  readonly app: App
  readonly model: Model<R>
  /** The field by which a row that is already there is known. */
  readonly key: keyof R & string
  readonly rows: () => R[]
  readonly progress: Progress
  readonly signal: AbortSignal | undefined
}

async function seedPart<R>(part: Part<R>): Promise<boolean> {
  const { app, model, key, rows, progress, signal } = part
  const finished = app.store.collection(FinishedSeed)
  if (await finished.findOne({ name: model.collection })) return true
  const collection = app.store.collection(model)
  const there = new Set<unknown>(
    (await collection.find({}, { select: [key as string] })).map((row) => row[key]),
  )
  const all = rows()
  const missing = all.filter((row) => !there.has(row[key]))
  progress.start(model.collection, all.length, all.length - missing.length)
  try {
    for (let at = 0; at < missing.length; at += BATCH) {
      if (signal?.aborted) return false
      await Promise.all(missing.slice(at, at + BATCH).map((row) => collection.insert(row)))
      progress.advance(all.length - missing.length + Math.min(at + BATCH, missing.length))
    }
  } finally {
    progress.stop()
  }
  await finished.insert({ name: model.collection })
  return true
}

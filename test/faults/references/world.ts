/**
 * Countries and what refers to them: models whose references are enforced in every way, an app over them, and what
 * must hold of their records at any moment.
 *
 * @module
 */

import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  ref,
  type Store,
} from '../../../src/index.ts'

const name = z.string()
const country = ref('RaceCountry', { onDelete: 'cascade' })

const MODELS: Readonly<Record<string, Model>> = {
  countries: defineModel('RaceCountry', { fields: { name } }) as never,
  cities: defineModel('RaceCity', { fields: { name, country } }) as never,
  streets: defineModel('RaceStreet', {
    fields: { name, city: ref('RaceCity', { onDelete: 'cascade' }) },
  }) as never,
  treaties: defineModel('RaceTreaty', {
    fields: { name, country: ref('RaceCountry', { onDelete: 'restrict' }) },
  }) as never,
  trips: defineModel('RaceTrip', {
    fields: { name, countries: z.array(ref('RaceCountry', { onDelete: 'unset' })) },
  }) as never,
  notes: defineModel('RaceNote', {
    fields: { name, country: ref('RaceCountry', { onDelete: 'unset' }).nullish() },
  }) as never,
}

/** The fields that refer to something, with what they refer to. */
const REFERENCES = [
  ['cities', 'country', 'countries'],
  ['streets', 'city', 'cities'],
  ['treaties', 'country', 'countries'],
  ['trips', 'countries', 'countries'],
  ['notes', 'country', 'countries'],
] as const

/** Where a process finds its records: a SQLite file, a schema of PostgreSQL, or a database of MongoDB. */
export type Where =
  | { readonly path: string }
  | { readonly url: string; readonly schema: string }
  | { readonly url: string; readonly database: string }

/** The store at a place. */
export function storeAt(where: Where): Store {
  if ('path' in where) return sqliteStore(where)
  return 'schema' in where ? postgresStore(where) : mongoStore(where)
}

/** What an app is asked, and what it answers. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly json?: Fields
}

/** A response: its status, and the id of a record or the message of a refusal. */
export interface Told {
  readonly status: number
  readonly said: string
}

/** An app over the models. */
export interface World {
  readonly app: App
  ask(asked: Asked): Promise<Told>
  /** The records of a collection that have this name. */
  all(collection: string, name: string): Promise<Fields[]>
  close(): Promise<void>
}

/** An app over the records of `store`. */
export function worldOn(store: Store): World {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: console.error }
  const app = createApp({ store, env: {}, logger })
  for (const [path, model] of Object.entries(MODELS)) {
    const allowedFields = Object.keys(model.fields) as never
    app.mount(`/${path}`, createRouter({ model, allowedFields, middlewares: [] }))
  }
  return {
    app,
    async ask({ method, path, json }) {
      const request = new Request(`http://localhost${path}`, {
        method,
        ...(json && { body: JSON.stringify(json) }),
        headers: { 'content-type': 'application/json' },
      })
      const response = await app.handle(request)
      const { data, error } = (await response.json()) as { data?: Fields; error?: string }
      return { status: response.status, said: String(data?._id ?? error ?? '') }
    },
    all: async (collection, named) => {
      const model = MODELS[collection]
      return model ? app.store.collection(model).find({ name: named } as never) : []
    },
    close: () => app.close(),
  }
}

/** The references of records with this name that lead to no other such record, as sentences. */
export async function dangling(world: World, named: string): Promise<string[]> {
  const found: string[] = []
  for (const [collection, field, target] of REFERENCES) {
    // What refers is read first: then a removal in between cannot look like one that has forgotten it.
    const records = await world.all(collection, named)
    const ids = new Set((await world.all(target, named)).map(({ _id }) => _id))
    for (const record of records) {
      const lost = [record[field] ?? []].flat().filter((id) => !ids.has(id))
      if (lost.length > 0) found.push(`${collection} ${record._id}: ${field} ${lost}`)
    }
  }
  return found
}

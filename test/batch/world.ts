/**
 * Teams, their players, notes of these, and trips: models with unique fields, enforced references, a rule across fields
 * and a scope, in an app with a batch.
 *
 * @module
 */

import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import {
  createRouter,
  defineModel,
  type Fields,
  type Model,
  ref,
  type Store,
} from '../../src/index.ts'
import { type Answer, type Service, service } from '../records/service.ts'

const Team = defineModel('BatchTeam', {
  fields: { name: z.string().max(4), city: z.string().optional() },
  unique: ['name'],
})
const Player = defineModel('BatchPlayer', {
  fields: z
    .object({
      name: z.string(),
      least: z.number().int().optional(),
      most: z.number().int().optional(),
      shirt: z.number().int().nullish(),
      team: ref('BatchTeam', { onDelete: 'restrict' }).nullish(),
    })
    .refine(({ least = 0, most = 99 }) => least <= most, { message: 'Too much.', path: ['most'] }),
  unique: [['team', 'shirt']],
})
const Note = defineModel('BatchNote', {
  fields: {
    text: z.string(),
    owner: z.string(),
    player: ref('BatchPlayer', { onDelete: 'cascade' }),
  },
})
const Trip = defineModel('BatchTrip', {
  fields: { name: z.string(), players: z.array(ref('BatchPlayer', { onDelete: 'unset' })) },
})

/** The models by the names of their mounts. */
export const MODELS = { teams: Team, players: Player, notes: Note, trips: Trip } as const
export type Place = keyof typeof MODELS
export const PLACES: readonly Place[] = ['teams', 'players', 'notes', 'trips']

/** The references that responses fill in. */
const FILLED_IN: Readonly<Partial<Record<Place, string>>> = {
  players: 'team',
  notes: 'player',
  trips: 'players',
}

/** Who the requests are from: the scope of notes. */
export const OWNER: { readonly 'x-owner': string } = { 'x-owner': 'me' }

/** An app over the models. */
export interface World extends Service {
  /** Sends a batch. */
  batch(operations: readonly object[]): Promise<Answer>
  /** Every stored record, by mount. */
  all(): Promise<Readonly<Record<Place, readonly Fields[]>>>
  /** Stores records as they are. */
  fill(records: Readonly<Record<Place, readonly Fields[]>>): Promise<void>
}

/** An app over the models in `store`. */
export function worldOn(store: Store): World {
  const made = service({ store })
  const { app, send } = made
  const records = (place: Place) => app.store.collection(MODELS[place] as unknown as Model<Fields>)
  for (const place of PLACES) {
    const model = MODELS[place] as unknown as Model<Fields>
    const allowedFields = Object.keys(model.fields) as never
    const scope = (request: Request) => ({ owner: request.headers.get('x-owner') ?? '' }) as never
    const populate = FILLED_IN[place]
    app.mount(
      `/${place}`,
      createRouter({
        ...{ model, allowedFields, ...(place === 'notes' && { scope }) },
        ...(populate && { onGet: () => ({ populate }) as never }),
      }),
    )
  }
  app.mount('/batch', batch())
  return {
    ...made,
    batch: (operations) => send('POST', '/batch', { json: { operations }, headers: OWNER }),
    async all() {
      const found = await Promise.all(PLACES.map((place) => records(place).find()))
      return Object.fromEntries(PLACES.map((place, at) => [place, found[at] ?? []])) as never
    },
    async fill(given) {
      for (const place of PLACES) {
        for (const record of given[place]) await records(place).insert(record as never)
      }
    },
  }
}

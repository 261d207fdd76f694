/**
 * What hostile requests are sent to: the oracle's library, and beside it the notes of two users, of which only Ann
 * signs in.
 *
 * @module
 */

import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type App,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  HttpError,
  type Model,
  ref,
  type Values,
} from '../../../src/index.ts'
import { type Library, openLibrary } from '../oracle/library.ts'

const fields = {
  owner: z.string(),
  title: z.string().max(200),
  code: z.string().max(50).optional(),
  size: z.number().nullish(),
  done: z.boolean().nullish(),
  at: z.date().nullish(),
  kind: z.enum(['cup', 'jug']).nullish(),
  tags: z.array(z.string()).max(20).optional(),
  place: z.object({ city: z.string(), row: z.number().nullish() }).nullish(),
  stops: z.array(z.object({ km: z.number(), name: z.string().optional() })).optional(),
  free: z.record(z.string(), z.unknown()).optional(),
  any: z.unknown().optional(),
  about: ref('FuzzNote').nullish(),
  /** Written by nobody. */
  locked: z.string(),
  /** Shown to nobody. */
  secret: z.string(),
}
const refined = z.object(fields).refine(({ size, at }) => size !== 13 || !at, {
  path: ['size'],
  message: '13 has no date',
})
/** A note of Ann's or Bob's. */
export const Note: Model<Values<typeof fields>> = defineModel('FuzzNote', {
  fields: refined,
  timestamps: true,
  unique: ['code', ['title', 'size']],
  hidden: ['secret'],
})

/** What no answer may hold: what the models hide, and what stands in Bob's notes. */
export const UNSEEN = ['hidden-barcode', 'unseen', 'hidden-secret', 'note-of-bob'] as const

/** The fields of a note, the ones that a client may write first. */
export const WRITABLE = [
  'title',
  'code',
  'size',
  'done',
  'at',
  'kind',
  'tags',
  'place',
  'stops',
  'free',
  'any',
  'about',
  'owner',
] as const

/** The mounts over the notes. */
export const NOTES = ['/notes', '/walked'] as const

/** How many notes Ann has at least and at most. */
const FEWEST = 4
const MOST = 20

/** A running app with its records. */
export interface World extends Library {
  readonly bobs: readonly string[]
  /** Every note of `owner` as one text. */
  notesOf(owner: string): Promise<string>
  /** Sees to it that Ann has some notes, and not too many. */
  tidy(): Promise<void>
}

/** Opens the world, always the same. */
export async function openWorld(): Promise<World> {
  const library = await openLibrary(sqliteStore(), mountNotes)
  const notes = library.app.store.collection(Note)
  const insert = async (owner: string, size: number, about: string | null) => {
    const title = `note-of-${owner}`
    const place = { city: `city-of-${owner}` }
    const kept = { locked: 'as it was', secret: 'hidden-secret' }
    return (await notes.insert({ owner, title, size, tags: [owner], place, about, ...kept }))._id
  }
  const bobs: string[] = []
  for (let size = 0; size < FEWEST; size += 1) {
    const ofAnn = await insert('ann', size, bobs[0] ?? null)
    bobs.push(await insert('bob', size, ofAnn))
  }
  const all = (owner: string) => notes.find({ owner }, { sort: '_id' })
  return {
    ...library,
    bobs,
    notesOf: async (owner) => JSON.stringify(await all(owner)),
    async tidy() {
      const found = await all('ann')
      for (const { _id } of found.slice(MOST)) await notes.delete(_id)
      const taken = new Set(found.map(({ size }) => size))
      for (let size = 0, have = found.length; have < FEWEST; size += 1) {
        if (taken.has(size)) continue
        await insert('ann', size, bobs[0] ?? null)
        have += 1
      }
    },
  }
}

const signedIn: Guard = (request) => {
  if (request.headers.get('x-user') !== 'ann') throw new HttpError(401, 'Authentication required.')
  request.auth = { userId: 'ann' }
}

function mountNotes(app: App): void {
  const [pages, walked] = NOTES
  const lists = ['_id', 'owner', ...WRITABLE.filter((name) => !isDeep(name)), 'place.city'] as const
  const sortable = lists.filter((name) => name !== 'tags')
  const shared = {
    model: Note,
    middlewares: [signedIn],
    scope: ({ auth }: { auth?: Fields | undefined }) => ({ owner: String(auth?.userId) }),
    query: lists,
    sortableFields: sortable,
    search: ['title', 'tags', 'about.title'],
    allowedFields: WRITABLE,
    validate: {
      create: (payload: Fields) => ({ ...payload, locked: 'as it was', secret: 'hidden-secret' }),
      update: (payload: Fields) => (payload.title === 'b' ? { ...payload, $x: 1 } : undefined),
    },
    onGet: () => ({ populate: 'about' }),
  }
  app.mount(pages, createRouter({ ...shared } as never))
  app.mount(walked, createRouter({ ...shared, pagination: 'cursor', orderBy: '-title' } as never))
}

function isDeep(name: string): boolean {
  return ['place', 'stops', 'free', 'any'].includes(name)
}

/**
 * Notes of two users behind a scoped router, and a short way to ask as each of them.
 *
 * @module
 */

import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  HttpError,
  type Model,
  type RouterOptions,
  type Values,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const noteFields = {
  owner: z.string(),
  title: z.string(),
  size: z.number(),
  code: z.string().optional(),
}
/** A note of one user's. */
export const Note: Model<Values<typeof noteFields>> = defineModel('ScopeNote', {
  fields: noteFields,
  unique: ['code'],
})
type NoteOptions = Partial<RouterOptions<Values<typeof noteFields>>>

/** Takes the user from a header. */
export const signedIn: Guard = (request) => {
  const userId = request.headers.get('x-user')
  if (!userId) throw new HttpError(401, 'Authentication required.')
  request.auth = { userId }
}

/** Everything that clients may do, on the notes of the signed-in user alone. */
export const OWN: NoteOptions = {
  middlewares: [signedIn],
  scope: ({ auth }) => ({ owner: auth?.userId }),
  query: ['owner', 'title', 'size', '_id'],
  search: ['owner', 'title'],
  sortableFields: ['owner', 'title', 'size', '_id'],
  allowedFields: ['owner', 'title', 'size', 'code'],
}

/** Five notes of Ann's and five of Bob's, titles and sizes interleaved. */
export async function notes(options: NoteOptions = {}) {
  const served = service()
  served.app.mount('/notes', createRouter({ model: Note, ...OWN, ...options }))
  const stored = served.app.store.collection(Note)
  const made: Record<'ann' | 'bob', Fields[]> = { ann: [], bob: [] }
  for (let size = 0; size < 10; size += 1) {
    const owner = size % 2 === 0 ? 'ann' : 'bob'
    made[owner].push({
      ...(await stored.insert({ owner, title: `secret ${owner} ${size}`, size })),
    })
  }
  const as = (user: string) => (method: string, path: string, json?: unknown) =>
    served.send(method, path, { ...(json !== undefined && { json }), headers: { 'x-user': user } })
  return { ...served, stored, made, ann: as('ann'), bob: as('bob') }
}

/** The ids of `records`. */
export const ids = (records: readonly Fields[]) => records.map(({ _id }) => _id)

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type CacheStore, createRouter, defineModel, ref } from '../../../src/index.ts'
import { service } from '../service.ts'
import { Note, OWN, signedIn } from './notes.ts'

function mapCache(): CacheStore {
  const kept = new Map<string, string>()
  return { get: async (key) => kept.get(key), set: async (key, value) => kept.set(key, value) }
}

/** A cached router over notes of Ann's and Bob's, whose cache tells no users apart by itself. */
async function cached() {
  const served = service({ cache: mapCache() })
  const stored = served.app.store.collection(Note)
  const ann = await stored.insert({ owner: 'ann', title: 'anns', size: 1 })
  const bob = await stored.insert({ owner: 'bob', title: 'bobs', size: 1 })
  const cache = { vary: () => 'everyone' }
  served.app.mount('/notes', createRouter({ model: Note, ...OWN, cache }))
  const as = (user: string) => (path: string) =>
    served.send('GET', path, { headers: { 'x-user': user } })
  return { ...served, cache, notes: { ann, bob }, ann: as('ann'), bob: as('bob') }
}

describe('design, scope: the cache', () => {
  test('security, cached scopes: an answer is kept under the scope that it was read with', async () => {
    const { ann, bob, notes } = await cached()
    for (const path of [
      '/notes',
      '/notes?page=1',
      '/notes?s=s',
      `/notes/${notes.ann._id}`,
      `/notes/${notes.bob._id}`,
    ]) {
      const first = [await ann(path), await bob(path)]
      const again = [await ann(path), await bob(path)]
      for (const [index, answer] of again.entries()) {
        expect(answer.status).toBe(first[index]?.status)
        expect(answer.body.data).toEqual(first[index]?.body.data)
        if (answer.status === 200) expect(answer.headers.get('x-cache')).toBe('HIT')
      }
      expect(again[0]?.text).not.toContain('bobs')
      expect(again[1]?.text).not.toContain('anns')
    }
  })

  test('security, cached scopes: what is filled in through a reference is kept apart by the scope of its own router', async () => {
    const Comment = defineModel('ScopeCachedComment', {
      fields: { text: z.string(), notes: z.array(ref('ScopeNote')) },
    })
    const { app, ann, bob, notes, cache } = await cached()
    await app.store.collection(Comment).insert({ text: 'c', notes: [notes.ann._id, notes.bob._id] })
    app.mount(
      '/comments',
      createRouter({
        model: Comment,
        middlewares: [signedIn],
        search: ['notes.title'],
        allowedFields: [],
        onGet: () => ({ populate: 'notes' }),
        cache,
      }),
    )
    for (const path of ['/comments', '/comments?s=anns', '/comments?s=bobs']) {
      for (let time = 0; time < 2; time += 1) {
        expect((await ann(path)).text).not.toContain('bobs')
        expect((await bob(path)).text).not.toContain('anns')
      }
    }
  })
})

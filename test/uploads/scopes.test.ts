import { describe, expect, it } from 'vitest'
import { album, Photo } from './album.ts'
import { form, png } from './png.ts'

/** Anyone sees public photos; those that are written are rated 1, or named Oslo. */
const scope = {
  read: () => ({ public: true }),
  write: () => ({ or: [{ rating: 1 }, { title: 'Oslo' }] }),
}

/** An album whose hook names every photo. */
function named(title: string) {
  const made = album({ router: { scope, validate: (payload) => ({ ...payload, title }) } })
  return { ...made, photos: made.app.store.collection(Photo) }
}

describe('uploads within scopes', () => {
  it('of writes that would be outside are not stored', async () => {
    const { upload, keys, photos } = named('Bergen')
    const created = await upload('POST', '/photos', form({ public: 'true', image: png }))
    expect([created.status, await keys(), await photos.count()]).toEqual([403, [], 0])
    const { _id } = await photos.insert({ title: 'Oslo', image: null })
    const changed = await upload('PATCH', `/photos/${_id}`, form({ image: png }))
    expect([changed.status, await keys()]).toEqual([403, []])
    expect(await photos.findById(_id)).toMatchObject({ title: 'Oslo', image: null })
  })

  it('of records that cannot be written are not stored, whoever may read them', async () => {
    const { upload, keys, photos } = named('Oslo')
    const { _id } = await photos.insert({ title: 'Bergen', public: true })
    expect((await upload('PATCH', `/photos/${_id}`, form({ image: png }))).status).toBe(404)
    expect(await keys()).toEqual([])
  })

  it('of records that cannot be read are stored, and their links not shown', async () => {
    const { upload, keys } = named('Oslo')
    const made = await upload('POST', '/photos', form({ public: 'false', image: png }))
    const { _id } = made.record
    expect([made.status, made.body.data]).toEqual([201, { _id: expect.any(String) }])
    const [first] = await keys()
    const changed = await upload('PATCH', `/photos/${_id}`, form({ image: png }))
    expect([changed.status, changed.body.data]).toEqual([200, { _id }])
    // The new file has taken the place of the old one.
    expect(await keys()).toHaveLength(1)
    expect(await keys()).not.toContain(first)
  })
})

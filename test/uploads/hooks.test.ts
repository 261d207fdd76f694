/**
 * The hooks around PATCH and DELETE on a router that takes files.
 */

import { expect, test } from 'vitest'
import { HttpError } from '../../src/index.ts'
import { type AlbumOptions, album, Photo } from './album.ts'
import { form, png } from './png.ts'

/** An album with one photo that has an image. */
async function photo(router: AlbumOptions['router'] = {}) {
  const served = album({ router })
  const { record } = await served.upload('POST', '/photos', form({ title: 'x', image: png }))
  served.calls.length = 0
  const keyOf = (url: unknown) => served.files.keyOf(String(url))
  return { ...served, path: `/photos/${record._id}`, image: String(record.image), keyOf }
}

test('nothing is stored for an update that beforeUpdate refuses', async () => {
  const { upload, path, calls, keys, keyOf, image } = await photo({
    beforeUpdate() {
      throw new HttpError(409, 'No.')
    },
  })
  expect((await upload('PATCH', path, form({ image: png }))).status).toBe(409)
  expect([calls, await keys()]).toEqual([[], [keyOf(image)]])
})

test('a file that beforeUpdate leaves out is not stored', async () => {
  const { upload, path, calls, image } = await photo({
    beforeUpdate: ({ changes: { image: _, ...others } }) => others,
  })
  const { status, record } = await upload('PATCH', path, form({ title: 'y', image: png }))
  expect([status, record.title, record.image, calls]).toEqual([200, 'y', image, []])
})

test('an update that is judged twice stores its file and removes the one before', async () => {
  let judged = 0
  const { app, upload, path, keys, keyOf, image } = await photo({
    async beforeUpdate({ record }) {
      judged += 1
      if (judged === 1) await app.store.collection(Photo).update(record._id, { rating: 3 })
    },
  })
  const { status, record } = await upload('PATCH', path, form({ image: png }))
  expect([status, record.rating, judged]).toEqual([200, 3, 2])
  expect(record.image).not.toBe(image)
  expect(await keys()).toEqual([keyOf(record.image)])
})

test('an update that is overtaken twice leaves the file that was there', async () => {
  let judged = 0
  const { app, upload, send, path, keys, keyOf, image } = await photo({
    async beforeUpdate({ record }) {
      judged += 1
      await app.store.collection(Photo).update(record._id, { rating: judged })
    },
  })
  expect((await upload('PATCH', path, form({ image: png }))).status).toBe(409)
  expect((await send('GET', path)).record).toMatchObject({ image, rating: 2 })
  expect(await keys()).toEqual([keyOf(image)])
})

test('beforeRemove keeps the files of a record that it protects', async () => {
  let isLocked = true
  const { send, path, keys, keyOf, image } = await photo({
    beforeRemove() {
      if (isLocked) throw new HttpError(409, 'No.')
    },
  })
  expect((await send('DELETE', path)).status).toBe(409)
  expect(await keys()).toEqual([keyOf(image)])
  isLocked = false
  expect((await send('DELETE', path)).status).toBe(200)
  expect(await keys()).toEqual([])
})

test('a hook may give a record the file of another one, which stays until both are gone', async () => {
  let image = ''
  const {
    send,
    path,
    keys,
    keyOf,
    image: first,
  } = await photo({
    validate: (payload) => (payload.rating === 5 ? { ...payload, image } : payload),
    beforeUpdate: ({ changes }) => (changes.rating === 4 ? { ...changes, image } : changes),
  })
  image = first
  for (const rating of [5, 4]) {
    const { record: other } = await send('POST', '/photos', { json: { title: `y${rating}` } })
    const given = await send('PATCH', `/photos/${other._id}`, { json: { rating } })
    expect([given.status, given.record]).toMatchObject([200, { rating, image }])
  }
  expect((await send('DELETE', path)).status).toBe(200)
  expect(await keys()).toEqual([keyOf(image)])
  for (const { _id } of (await send('GET', '/photos')).records)
    await send('DELETE', `/photos/${_id}`)
  expect(await keys()).toEqual([])
})

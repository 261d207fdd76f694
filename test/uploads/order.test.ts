/**
 * What is there first, the object or the record, at every moment of a write (answers, Uploads).
 */

import { expect, it } from 'vitest'
import { HttpError } from '../../src/index.ts'
import { type Album, album, Photo } from './album.ts'
import { form, png } from './png.ts'

/** An album that notes at each call of its file store whether a record points at the object. */
function observed(options: Parameters<typeof album>[0] = {}) {
  const seen: string[] = []
  const served: Album = album({
    ...options,
    async before(call, url) {
      const records = await served.app.store.collection(Photo).find()
      const pointed = JSON.stringify(records).includes(url)
      seen.push(`${call}, ${pointed ? 'a record points at it' : 'no record points at it'}`)
    },
  })
  return { ...served, seen }
}

const PUT = 'put, no record points at it'
const DELETE = 'delete, no record points at it'

it('an object is stored before a record points at it, and removed after the last one did', async () => {
  const { upload, send, seen } = observed()
  const { record } = await upload('POST', '/photos', form({ title: 'x', image: png, cover: png }))
  expect(seen.splice(0)).toEqual([PUT, PUT])
  const path = `/photos/${record._id}`
  await upload('PATCH', path, form({ image: png }))
  expect(seen.splice(0)).toEqual([PUT, DELETE])
  await send('PATCH', path, { json: { image: null } })
  expect(seen.splice(0)).toEqual([DELETE])
  await send('DELETE', path)
  expect(seen).toEqual([DELETE])
})

it('a PATCH that fails removes its new object, and the old one stays', async () => {
  const { upload, send, seen, keys, files } = observed()
  await upload('POST', '/photos', form({ title: 'taken' }))
  const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
  seen.length = 0
  const path = `/photos/${record._id}`
  const clash = await upload('PATCH', path, form({ title: 'taken', image: png }))
  expect(clash.status).toBe(409)
  expect(seen).toEqual([PUT, DELETE])
  expect((await send('GET', path)).record.image).toBe(record.image)
  expect(await keys()).toEqual([files.keyOf(String(record.image))])
})

it('a PATCH on a condition that does not hold stores nothing, and removes nothing', async () => {
  const { upload, seen, keys } = observed()
  const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
  seen.length = 0
  const headers = { 'if-match': '"another"' }
  const path = `/photos/${record._id}`
  const refused = await upload('PATCH', path, form({ image: png }), { headers })
  expect(refused.status).toBe(412)
  expect(seen).toEqual([])
  expect(await keys()).toHaveLength(1)
})

it('a DELETE that is refused, or finds nothing, removes no object', async () => {
  const { upload, send, seen, keys } = observed({
    router: {
      middlewares: [
        ({ method, query }) => {
          if (method === 'DELETE' && query.sure === undefined) throw new HttpError(403, 'Be sure.')
        },
      ],
    },
  })
  const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
  seen.length = 0
  expect((await send('DELETE', `/photos/${record._id}`)).status).toBe(403)
  const unmet = await send('DELETE', `/photos/${record._id}?sure`, {
    headers: { 'if-match': '"another"' },
  })
  expect(unmet.status).toBe(412)
  expect((await send('DELETE', `/photos/${'0'.repeat(24)}?sure`)).status).toBe(404)
  expect(seen).toEqual([])
  expect(await keys()).toHaveLength(1)
})

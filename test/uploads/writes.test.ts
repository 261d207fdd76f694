/**
 * Writes with files: what is saved, in which order, and what happens to the objects (answers, Uploads).
 */

import { describe, expect, it } from 'vitest'
import { HttpError, ValidationError } from '../../src/index.ts'
import { album } from './album.ts'
import { form, png } from './png.ts'

const KEY = /^\/uploads\/files\/\d{13}-[0-9a-f]{32}\.png$/

describe('a POST with files', () => {
  it('stores them and saves their URLs in the shape of each field', async () => {
    const { upload, keys, send } = album()
    const data = form({ title: 'cat', image: png, others: [png, png], cover: png, sheets: [png] })
    const made = await upload('POST', '/photos', data)
    expect(made.status).toBe(201)
    expect(made.record).toMatchObject({
      image: expect.stringMatching(KEY),
      others: [expect.stringMatching(KEY), expect.stringMatching(KEY)],
      cover: { url: expect.stringMatching(KEY) },
      sheets: [{ url: expect.stringMatching(KEY) }],
    })
    expect(await keys()).toHaveLength(5)
    expect((await send('GET', `/photos/${made.record._id}`)).record).toEqual(made.record)
  })

  it('casts text by the field, repeats make lists, brackets make objects', async () => {
    const { upload } = album()
    const data = form({
      title: 'cast',
      rating: '4.5',
      public: 'true',
      takenAt: '2024-02-03',
      tags: ['a', 'b'],
      'place[city]': 'Bergen',
      'place[spot][x]': '12',
    })
    const { record, status } = await upload('POST', '/photos', data)
    expect(status).toBe(201)
    expect(record).toMatchObject({
      rating: 4.5,
      public: true,
      takenAt: '2024-02-03T00:00:00.000Z',
      tags: ['a', 'b'],
      place: { city: 'Bergen', spot: { x: 12 } },
    })
  })

  it('takes one text, or one with empty brackets, as a list where the field is one', async () => {
    const { upload } = album()
    expect(
      (await upload('POST', '/photos', form({ title: 'a', tags: 'one' }))).record.tags,
    ).toEqual(['one'])
    expect(
      (await upload('POST', '/photos', form({ title: 'b', 'tags[]': 'one' }))).record.tags,
    ).toEqual(['one'])
  })

  it('never writes forbidden keys, however a name nests them', async () => {
    const { upload } = album()
    const data = form({
      title: 'x',
      _id: '0'.repeat(24),
      'place[city]': 'y',
      'place[__proto__][polluted]': 'yes',
      'place[constructor][prototype][polluted]': 'yes',
      '__proto__[polluted]': 'yes',
      'place[$where]': '1',
      'place[a.b]': '1',
      createdAt: '2020-01-01',
    })
    const { record, status } = await upload('POST', '/photos', data)
    expect(status).toBe(201)
    expect(record.place).toEqual({ city: 'y' })
    expect(record._id).not.toBe('0'.repeat(24))
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
    // A parser that calls itself for each bracket ends at some two thousand of them.
    for (const brackets of [9, 2000, 4000]) {
      const nested = form({ [`place${'[a]'.repeat(brackets)}`]: 'x', title: 'deep' })
      const { status, body } = await upload('POST', '/photos', nested)
      expect([status, body.error]).toEqual([400, `Field 'place' is nested too deeply.`])
    }
  })

  it('stores no file that the field policy drops', async () => {
    const { upload, calls } = album({ router: { allowedFields: ['title', 'image'] } })
    const made = await upload('POST', '/photos', form({ title: 'x', image: png, cover: png }))
    expect(made.status).toBe(201)
    expect(made.record.cover).toBeUndefined()
    expect(calls).toEqual(['put'])
  })

  it('stores nothing when only dropped fields were sent', async () => {
    const { upload, calls } = album({ router: { allowedFields: ['title'] } })
    const made = await upload('POST', '/photos', form({ image: png }))
    expect([made.status, made.body.error]).toEqual([
      400,
      'Request body contains no writable fields.',
    ])
    expect(calls).toEqual([])
  })

  it('asks the guard first, and stores nothing for an invalid record', async () => {
    const { upload, send, calls, keys } = album({
      router: {
        middlewares: [
          (request) => {
            if (!request.headers.has('authorization'))
              throw new HttpError(401, 'Authentication required.')
          },
        ],
      },
    })
    let read = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read += 1
          controller.enqueue(new Uint8Array(64 * 1024))
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    expect((await send('POST', '/photos', { body, headers })).status).toBe(401)
    expect(read).toBe(0)
    const invalid = form({ title: 'x'.repeat(51), image: png })
    const refused = await upload('POST', '/photos', invalid, { headers: { authorization: 'x' } })
    expect([refused.status, Object.keys(refused.body.fields ?? {})]).toEqual([400, ['title']])
    expect(calls).toEqual([])
    expect(await keys()).toEqual([])
  })

  it('shows the validate hook the URLs before anything is stored, and stores nothing when it refuses', async () => {
    const seen: unknown[] = []
    const { upload, calls } = album({
      router: {
        validate(payload) {
          seen.push(payload.image)
          throw new ValidationError('No photos today.', { image: 'Not today.' })
        },
      },
    })
    const refused = await upload('POST', '/photos', form({ title: 'x', image: png }))
    expect([refused.status, refused.body.error]).toEqual([400, 'No photos today.'])
    expect(seen).toEqual([expect.stringMatching(KEY)])
    expect(calls).toEqual([])
  })

  it('stores only the files that the hook has kept', async () => {
    const { upload, keys } = album({ router: { validate: ({ cover, ...kept }) => kept } })
    const made = await upload('POST', '/photos', form({ title: 'x', image: png, cover: png }))
    expect(made.record.cover).toBeUndefined()
    expect(await keys()).toHaveLength(1)
  })

  it('deletes the stored objects again when saving fails', async () => {
    const { upload, keys, calls } = album()
    expect((await upload('POST', '/photos', form({ title: 'same', image: png }))).status).toBe(201)
    const clash = await upload('POST', '/photos', form({ title: 'same', image: png, cover: png }))
    expect([clash.status, clash.body.error]).toEqual([409, 'Duplicate value for: title.'])
    expect(calls).toEqual(['put', 'put', 'put', 'delete', 'delete'])
    expect(await keys()).toHaveLength(1)
  })
})

describe('a PATCH with files', () => {
  it('removes the replaced object after the commit, and keeps the others', async () => {
    const { upload, keys, files } = album()
    const made = await upload('POST', '/photos', form({ title: 'x', image: png, cover: png }))
    const patched = await upload('PATCH', `/photos/${made.record._id}`, form({ image: png }))
    expect(patched.status).toBe(200)
    expect(patched.record.image).not.toBe(made.record.image)
    expect(patched.record.cover).toEqual(made.record.cover)
    expect(await keys()).toEqual(
      [patched.record.image, (made.record.cover as { url: string }).url]
        .map((url) => files.keyOf(String(url)))
        .sort(),
    )
  })

  it('stores nothing for a record that is not there', async () => {
    const { upload, calls } = album()
    const missing = await upload('PATCH', `/photos/${'0'.repeat(24)}`, form({ image: png }))
    expect([missing.status, missing.body.error]).toEqual([404, 'Entry not found.'])
    expect(calls).toEqual([])
    const malformed = await upload('PATCH', '/photos/nonsense', form({ image: png }))
    expect([malformed.status, malformed.body.error]).toEqual([400, 'Invalid ID format.'])
  })

  it('is written however many race for one field, and leaves nothing over', async () => {
    const { upload, keys, send, files } = album()
    const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const path = `/photos/${made.record._id}`
    const racing = Array.from({ length: 40 }, () => upload('PATCH', path, form({ image: png })))
    expect((await Promise.all(racing)).map(({ status }) => status)).toEqual(Array(40).fill(200))
    const { image } = (await send('GET', path)).record
    expect(await keys()).toEqual([files.keyOf(String(image))])
  })

  it('racing a DELETE leaves no record that points at a missing object, and no object over', async () => {
    const { upload, send, keys } = album()
    for (let round = 0; round < 20; round += 1) {
      const made = await upload('POST', '/photos', form({ title: `r${round}`, image: png }))
      const path = `/photos/${made.record._id}`
      const [patched, deleted] = await Promise.all([
        upload('PATCH', path, form({ image: png })),
        send('DELETE', path),
      ])
      expect([200, 404]).toContain(patched.status)
      expect(deleted.status).toBe(200)
    }
    expect(await keys()).toEqual([])
  })

  it('adds to a list what is named beside the new files, up to maxCount', async () => {
    const { upload, keys } = album()
    const made = await upload('POST', '/photos', form({ title: 'x', others: [png, png] }))
    const [first, second] = made.record.others as string[]
    const path = `/photos/${made.record._id}`
    const added = await upload('PATCH', path, form({ others: [first ?? '', png] }))
    expect(added.record.others).toEqual([first, expect.stringMatching(KEY)])
    expect((added.record.others as string[])[1]).not.toBe(second)
    expect(await keys()).toHaveLength(2)
    const many = await upload(
      'PATCH',
      path,
      form({ others: [...(added.record.others as string[]), png, png] }),
    )
    expect([many.status, many.body.error]).toEqual([
      400,
      'File upload error: Unexpected file field',
    ])
  })
})

describe('a URL of the client in a file field', () => {
  const foreign = 'https://evil.example/x.png'

  it('is dropped from a POST, in JSON and in a form', async () => {
    const { upload, send } = album()
    const json = {
      title: 'a',
      image: foreign,
      others: [foreign],
      cover: { url: foreign },
      sheets: [{ url: foreign }],
    }
    const made = await send('POST', '/photos', { json })
    expect(made.status).toBe(201)
    const names = ['image', 'others', 'cover', 'sheets']
    for (const name of names) expect(made.record[name]).toBeUndefined()
    const text = form({ title: 'b', image: foreign, others: [foreign], 'cover[url]': foreign })
    const sent = await upload('POST', '/photos', text)
    for (const name of names) expect(sent.record[name]).toBeUndefined()
    const nothing = await send('POST', '/photos', { json: { image: foreign } })
    expect([nothing.status, nothing.body.error]).toEqual([
      400,
      'Request body contains no writable fields.',
    ])
  })

  it('is dropped from a PATCH unless it is the stored one', async () => {
    const { upload, send, keys } = album()
    const { record } = await upload(
      'POST',
      '/photos',
      form({ title: 'a', image: png, others: [png, png], cover: png }),
    )
    const other = await upload('POST', '/photos', form({ title: 'b', image: png }))
    const path = `/photos/${record._id}`
    const attempts = [
      { image: foreign, others: [foreign], cover: { url: foreign } },
      { image: other.record.image },
      { image: [record.image] },
      { others: record.image },
      { image: { url: record.image } },
      { image: 7, others: true },
    ]
    for (const json of attempts) {
      const patched = await send('PATCH', path, { json: { ...json, rating: 1 } })
      expect(patched.status).toBe(200)
      expect(patched.record).toEqual({ ...record, rating: 1 })
    }
    const same = await send('PATCH', path, {
      json: { image: record.image, cover: record.cover, others: record.others },
    })
    expect(same.record).toEqual({ ...record, rating: 1 })
    expect(await keys()).toHaveLength(5)
  })

  it('may leave files out of a list, or clear a field: their objects go', async () => {
    const { upload, send, keys } = album()
    const { record } = await upload(
      'POST',
      '/photos',
      form({ title: 'a', image: png, others: [png, png, png] }),
    )
    const [first, , third] = record.others as string[]
    const path = `/photos/${record._id}`
    const fewer = await send('PATCH', path, { json: { others: [third, foreign, first, first] } })
    expect(fewer.record.others).toEqual([third, first])
    expect(await keys()).toHaveLength(3)
    const cleared = await send('PATCH', path, { json: { image: null, others: [] } })
    expect(cleared.record).toMatchObject({ image: null, others: [] })
    expect(await keys()).toEqual([])
  })

  it('null removes a file field that takes no null, and its objects', async () => {
    const { upload, send, keys } = album()
    const files = form({ title: 'a', cover: png, sheets: [png, png], others: png })
    const { record } = await upload('POST', '/photos', files)
    expect(await keys()).toHaveLength(4)
    const path = `/photos/${record._id}`
    const json = { cover: null, sheets: null, others: null }
    const cleared = await send('PATCH', path, { json })
    expect(cleared.status, cleared.text).toBe(200)
    expect(cleared.record).toEqual({ _id: record._id, title: 'a' })
    expect((await send('GET', path)).record).toEqual({ _id: record._id, title: 'a' })
    expect(await keys()).toEqual([])
  })
})

describe('a DELETE', () => {
  it('removes the stored files too, after the record', async () => {
    const { upload, send, keys } = album()
    const { record } = await upload(
      'POST',
      '/photos',
      form({ title: 'a', image: png, others: [png], cover: png }),
    )
    expect((await send('DELETE', `/photos/${record._id}`)).status).toBe(200)
    expect(await keys()).toEqual([])
  })

  it('leaves alone what the kit has not stored itself', async () => {
    const { upload, send, files } = album({
      router: { validate: (payload) => ({ ...payload, image: '/uploads/files/default.png' }) },
    })
    const meta = {
      contentType: 'image/png',
      contentDisposition: 'inline',
      acl: 'public-read',
    } as const
    await files.put('files/default.png', png, { ...meta, size: png.length })
    const { record } = await upload('POST', '/photos', form({ title: 'a' }))
    expect(record.image).toBe('/uploads/files/default.png')
    await send('DELETE', `/photos/${record._id}`)
    expect((await send('GET', '/uploads/files/default.png')).status).toBe(200)
  })
})

describe('without a file store', () => {
  const bare = () => album({ app: { files: undefined as never } })

  it('a file is a 503, JSON and text-only forms go on', async () => {
    const { upload, send, log } = bare()
    expect(log.text).toContain(`Router '/photos': files are refused`)
    expect((await send('POST', '/photos', { json: { title: 'a' } })).status).toBe(201)
    expect((await upload('POST', '/photos', form({ title: 'b' }))).status).toBe(201)
    const refused = await upload('POST', '/photos', form({ title: 'c', image: png }))
    expect([refused.status, refused.body.error]).toEqual([
      503,
      'S3 service is not properly configured on the server.',
    ])
    expect(refused.body.requestId).toBeDefined()
    expect((await send('GET', '/photos')).records).toHaveLength(2)
  })

  it('a router without upload takes no multipart', async () => {
    const { upload } = album({ router: { upload: undefined as never } })
    const refused = await upload('POST', '/photos', form({ title: 'x' }))
    expect([refused.status, refused.body.error]).toEqual([
      415,
      'Request body must be sent as application/json.',
    ])
  })

  it('a router with upload names both types that it takes', async () => {
    const { send } = album()
    const refused = await send('POST', '/photos', {
      body: 'title=x',
      headers: { 'content-type': 'text/plain' },
    })
    expect([refused.status, refused.body.error]).toEqual([
      415,
      'Request body must be sent as application/json or multipart/form-data.',
    ])
  })
})

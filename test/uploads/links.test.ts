/**
 * Reading what was uploaded: links to private files, and public ones (spec 4.3, `acl`; `signUrls`).
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { diskFiles } from '../../adapters/files/disk.ts'
import { type R2Binding, r2Files } from '../../adapters/files/r2.ts'
import { type CacheStore, createRouter, defineModel, ref } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { type Album, type AlbumOptions, album } from './album.ts'
import { form, png } from './png.ts'

/** An album whose links are signed at a time that the test sets, first a whole minute. */
function clocked({ app, ...options }: AlbumOptions): Album {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-links-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const now = () => made.clock.at
  const files = diskFiles({ root, secret: 'a secret of at least thirty-two characters', now })
  const made: Album = album({ ...options, app: { files, ...app } })
  return { ...made, files }
}

describe('a private file', () => {
  it('opens only through a signed link, and only until it expires', async () => {
    const { upload, send, files, app } = album()
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const url = String(record.image)
    const refused = await send('GET', url)
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'You do not have access to this file.',
    ])
    expect(refused.body.requestId).toBeDefined()
    const link = await files.signedUrl(url, 60)
    const opened = await app.handle(new Request(`http://localhost${link}`))
    expect(new Uint8Array(await opened.arrayBuffer())).toEqual(png)
    expect(opened.headers.get('cache-control')).toBe('private, no-cache')
    expect((await send('GET', await files.signedUrl(url, -1))).status).toBe(403)
    expect((await send('GET', `${link}x`)).status).toBe(403)
  })

  it('is signed for readers where the router says so, on every answer that shows it', async () => {
    const { upload, send } = album({ upload: { signUrls: 600 } })
    const signed = /^\/uploads\/files\/\d{13}-[0-9a-f]{32}\.png\?expires=\d+&signature=[\w-]{43}$/
    const data = form({ title: 'x', image: png, others: [png], cover: png, sheets: [png] })
    const made = await upload('POST', '/photos', data)
    const path = `/photos/${made.record._id}`
    const query = { json: { filter: {} }, headers: { 'content-type': 'application/json' } }
    const answers = [
      made.record,
      (await send('GET', path)).record,
      (await send('GET', '/photos')).records[0],
      (await send('QUERY', '/photos', query)).records[0],
      (await send('PATCH', path, { json: { rating: 2 } })).record,
    ]
    for (const record of answers) {
      expect(record).toMatchObject({
        image: expect.stringMatching(signed),
        others: [expect.stringMatching(signed)],
        cover: { url: expect.stringMatching(signed) },
        sheets: [{ url: expect.stringMatching(signed) }],
      })
      expect((await send('GET', String(record?.image))).status).toBe(200)
    }
  })

  it('keeps its stored URL when a client sends the signed link back', async () => {
    const { upload, send, app, keys } = album({ upload: { signUrls: 600 } })
    const { record } = await upload(
      'POST',
      '/photos',
      form({ title: 'x', image: png, cover: png, others: [png, png] }),
    )
    const sent = { image: record.image, cover: record.cover, others: record.others, rating: 3 }
    await send('PATCH', `/photos/${record._id}`, { json: sent })
    const { Photo } = await import('./album.ts')
    const stored = await app.store.collection(Photo).findById(String(record._id))
    expect(stored?.image).toMatch(/\.png$/)
    expect(stored?.cover?.url).toMatch(/\.png$/)
    expect(stored?.others).toHaveLength(2)
    expect(await keys()).toHaveLength(4)
  })

  it.each([false, true])(
    'lets a client write on condition of what it has read, though links have changed since; cache: %s',
    async (cache) => {
      const { upload, send, clock } = clocked({
        upload: { signUrls: 60 },
        router: { cache },
        app: { cache: memoryCache() },
      })
      const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
      const path = `/photos/${made.record._id}`
      const read = await send('GET', path)
      const etag = read.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[0-9a-f]{16}-[0-9a-f]{16}"$/)
      const write = (method: string, tag: string, message = {}) =>
        send(method, path, { headers: { 'if-match': tag }, ...message })
      for (const seconds of [31, 3600]) {
        clock.at += seconds * 1000
        for (const wrong of [etag.replace('"', '"0'), `W/${etag}`, '"other"', '""', 'x']) {
          expect((await write('PATCH', wrong, { json: { rating: 1 } })).status).toBe(412)
        }
        expect((await write('PATCH', etag, { json: { title: 'x' } })).status).toBe(200)
      }
      const replaced = await upload('PATCH', path, form({ image: png }), {
        headers: { 'if-match': etag },
      })
      expect(replaced.status).toBe(200)
      expect((await write('PATCH', etag, { json: { rating: 5 } })).status).toBe(412)
      expect((await write('DELETE', etag)).status).toBe(412)
      const last = (await send('GET', path)).headers.get('etag') ?? ''
      clock.at += 31_000
      expect((await write('DELETE', last)).status).toBe(200)
    },
  )

  it('gives a client that has the answer new links when it has old ones', async () => {
    const { upload, send, clock } = clocked({ upload: { signUrls: 60 } })
    const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const path = `/photos/${made.record._id}`
    const first = await send('GET', path)
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    clock.at += 29_000
    expect((await send('GET', path, { headers })).status).toBe(304)
    clock.at += 1000
    const next = await send('GET', path, { headers })
    expect(next.status).toBe(200)
    expect(next.record.image).not.toBe(first.record.image)
    expect(next.headers.get('etag')).not.toBe(first.headers.get('etag'))
  })

  it('is no change to what output makes of its link, and none to what a reference fills in', async () => {
    const { clock, files } = clocked({})
    const Person = defineModel('PosterPerson', { fields: { name: z.string() } })
    const Poster = defineModel('Poster', {
      fields: { title: z.string(), image: z.string(), by: ref('PosterPerson').optional() },
      output: ({ image, ...poster }) => ({ ...poster, html: `<img src="${image}">` }),
    })
    const { app, send } = service({ files })
    app.mount('/people', createRouter({ model: Person, allowedFields: ['name'] }))
    app.mount(
      '/posters',
      createRouter({
        model: Poster,
        allowedFields: ['title'],
        upload: { fields: [{ name: 'image' }], signUrls: 60 },
        onGet: () => ({ populate: 'by' }),
      }),
    )
    const person = await app.store.collection(Person).insert({ name: 'Ann' })
    const image = files.urlOf('files/a.png')
    const poster = { title: 'x', image, by: person._id }
    const path = `/posters/${(await app.store.collection(Poster).insert(poster))._id}`
    const read = await send('GET', path)
    expect(read.record).toMatchObject({ by: { name: 'Ann' } })
    expect(read.record.html).toContain('signature=')
    const headers = { 'if-match': read.headers.get('etag') ?? '' }
    clock.at += 31_000
    expect((await send('PATCH', path, { json: { title: 'x' }, headers })).status).toBe(200)
    await send('PATCH', `/people/${person._id}`, { json: { name: 'Eve' } })
    expect((await send('PATCH', path, { json: { title: 'y' }, headers })).status).toBe(412)
  })

  it('is signed for longer than a cache keeps the answer that shows the link', async () => {
    const keptUntil: number[] = []
    const memory = memoryCache()
    const store: CacheStore = {
      ...memory,
      set(key, value, ttl) {
        if (value.includes('expires=')) keptUntil.push(Date.now() / 1000 + ttl)
        return memory.set(key, value, ttl)
      },
    }
    for (const signUrls of [2, 7, 600, 604_800]) {
      const { upload, send } = album({
        upload: { signUrls },
        router: { cache: { store, ttl: 1_000_000 } },
      })
      const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
      keptUntil.length = 0
      const read = await send('GET', `/photos/${record._id}`)
      expect(read.headers.get('x-cache')).toBe('MISS')
      const [, expires] = /expires=(\d+)/.exec(String(read.record.image)) ?? []
      expect(keptUntil).not.toEqual([])
      for (const until of keptUntil) expect(until).toBeLessThan(Number(expires))
    }
  })

  it.each([
    { cache: {}, longest: 30 },
    { cache: { ttl: 10 }, longest: 10 },
    { cache: false as const, longest: 0 },
  ])(
    'opens for as long as was promised, whoever gets the answer last: %o',
    async ({ cache, longest }) => {
      const { upload, send, clock } = clocked({
        upload: { signUrls: 60 },
        router: { cache },
        app: { cache: memoryCache() },
      })
      const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
      const path = `/photos/${record._id}`
      const read = async () => {
        const answer = await send('GET', path)
        const expires = Number(/expires=(\d+)/.exec(String(answer.record.image))?.[1])
        return { xCache: answer.headers.get('x-cache'), left: expires - clock.at / 1000 }
      }
      const noon = clock.at
      // Where in the time for which links stay the same the answer is made.
      for (const second of [0, 14, 29]) {
        await send('PATCH', path, { json: { rating: 1 } })
        clock.at = noon + second * 1000
        const first = await read()
        clock.at += longest * 1000
        const last = await read()
        expect([first.xCache, last.xCache]).toEqual(cache ? ['MISS', 'HIT'] : [null, null])
        expect(last.left).toBeGreaterThanOrEqual(60)
        // What is promised, what the answer is kept, and what the link stays the same.
        expect(first.left).toBeLessThanOrEqual(60 + longest + 30)
      }
    },
  )

  it('is never signed for longer than seven days, which S3 would refuse', async () => {
    const { files } = clocked({})
    const asked: number[] = []
    const noted = {
      ...files,
      signedUrl: (url: string, seconds: number, steady?: number) => {
        asked.push(seconds)
        return files.signedUrl(url, seconds, steady)
      },
    }
    const { upload, send } = album({
      upload: { signUrls: 604_790 },
      router: { cache: true },
      app: { files: noted, cache: memoryCache() },
    })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    expect((await send('GET', `/photos/${record._id}`)).status).toBe(200)
    expect(asked).toEqual([604_800, 604_800])
  })

  it('stays unsigned in what an URL of another place says', async () => {
    const { upload } = album({
      upload: { signUrls: 60 },
      router: { validate: (payload) => ({ ...payload, image: 'https://cdn.example/default.png' }) },
    })
    const { record } = await upload('POST', '/photos', form({ title: 'x' }))
    expect(record.image).toBe('https://cdn.example/default.png')
  })
})

describe('a public-read file', () => {
  it('opens for everybody, with a HEAD, in parts, and not again when unchanged', async () => {
    const { upload, send } = album({ upload: { acl: 'public-read', signUrls: 60 } })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const url = String(record.image)
    expect(url).toMatch(/\.png$/)
    const head = await send('HEAD', url)
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      `${png.length}`,
    ])
    const part = await send('GET', url, { headers: { range: 'bytes=1-3' } })
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
      206,
      'PNG',
      `bytes 1-3/${png.length}`,
    ])
    const beyond = await send('GET', url, { headers: { range: 'bytes=500-' } })
    expect([beyond.status, beyond.body.error, beyond.headers.get('content-range')]).toEqual([
      416,
      'The requested range lies outside of the file.',
      `bytes */${png.length}`,
    ])
    const etag = head.headers.get('etag') ?? ''
    expect(
      (await send('GET', url, { headers: { 'if-none-match': `"x", W/${etag}` } })).status,
    ).toBe(304)
    expect((await send('GET', url, { headers: { 'if-none-match': '*' } })).status).toBe(304)
    const since = head.headers.get('last-modified') ?? ''
    expect((await send('GET', url, { headers: { 'if-modified-since': since } })).status).toBe(304)
    for (const method of ['GET', 'HEAD']) {
      const other = { 'if-match': '"other"', range: 'bytes=1-3' }
      expect((await send(method, url, { headers: other })).status).toBe(412)
      const far = { 'if-match': '"other"', range: 'bytes=500-' }
      expect((await send(method, url, { headers: far })).status).toBe(412)
      const old = { 'if-unmodified-since': new Date(0).toUTCString(), range: 'bytes=500-' }
      expect((await send(method, url, { headers: old })).status).toBe(412)
      expect((await send(method, url, { headers: { 'if-match': '*' } })).status).toBe(200)
    }
    const resumed = { range: 'bytes=1-3', 'if-range': '"other"' }
    expect((await send('GET', url, { headers: resumed })).status).toBe(200)
    expect((await send('GET', url, { headers: { range: 'bytes=0-1,3-4' } })).status).toBe(200)
    const last = png.length - 1
    for (const range of [`bytes=1-${'9'.repeat(20)}`, `bytes=1-${'9'.repeat(400)}`, 'BYTES=1-']) {
      const clamped = await send('GET', url, { headers: { range } })
      expect([clamped.status, clamped.headers.get('content-range')]).toEqual([
        206,
        `bytes 1-${last}/${png.length}`,
      ])
    }
    const far = { range: `bytes=${'9'.repeat(20)}-` }
    expect((await send('GET', url, { headers: far })).status).toBe(416)
    expect((await send('GET', url, { headers: { ...far, 'if-match': etag } })).status).toBe(416)
    expect((await send('GET', url, { headers: { ...far, 'if-none-match': '*' } })).status).toBe(304)
    for (const [condition, status] of [
      [since, 206],
      [etag, 206],
      [`W/${etag}`, 200],
      [since.replace(' GMT', ' UTC'), 200],
      [new Date(since).toISOString(), 200],
      [new Date(Date.parse(since) + 60_000).toUTCString(), 200],
    ] as const) {
      const headers = { range: 'bytes=1-3', 'if-range': condition }
      expect((await send('GET', url, { headers })).status, condition).toBe(status)
    }
  })

  it('opens from its end too, and whole for a range that is none', async () => {
    const { upload, send } = album({ upload: { acl: 'public-read' } })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const size = png.length
    for (const [range, status, part] of [
      ['bytes=-3', 206, `bytes ${size - 3}-${size - 1}/${size}`],
      [`bytes=-${size + 1}`, 206, `bytes 0-${size - 1}/${size}`],
      ['bytes=-0', 416, `bytes */${size}`],
      ['bytes=3-1', 200, null],
      ['bytes=-', 200, null],
      ['bytes=a-', 200, null],
    ] as const) {
      const found = await send('GET', String(record.image), { headers: { range } })
      expect([found.status, found.headers.get('content-range')], range).toEqual([status, part])
    }
  })

  it('is a 404 when it is not there, and takes no other method', async () => {
    const { upload, send } = album({ upload: { acl: 'public-read' } })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    for (const path of [
      '/uploads',
      '/uploads/',
      '/uploads/files',
      '/uploads/files/1-a.png',
      '/uploads/..%2fx',
    ]) {
      const missing = await send('GET', path)
      expect([missing.status, missing.body.error], path).toEqual([404, 'Not found.'])
    }
    for (const method of ['PUT', 'DELETE', 'POST']) {
      const refused = await send(method, String(record.image))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      expect((await send(method, '/uploads/files/1-a.png')).status).toBe(404)
    }
    const told = await send('OPTIONS', String(record.image))
    expect([told.status, told.headers.get('allow')]).toEqual([200, 'GET, HEAD'])
  })

  it('stands behind the guards of the whole app', async () => {
    const { app, upload, send } = album({ upload: { acl: 'public-read' } })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    app.use(() => new Response('closed', { status: 503 }))
    expect((await send('GET', String(record.image))).status).toBe(503)
  })
})

it('a URL that cannot be parsed, as a Host that is none makes it, leads to no file', async () => {
  const secret = 'a secret of at least thirty-two characters'
  const binding = { put: async () => {}, head: async () => null } as unknown as R2Binding
  const stores = [diskFiles({ root: 'absent', secret }), r2Files(binding, { secret })]
  for (const url of ['http://[::1/uploads/files/x.png', '/uploads/files/x.png']) {
    const request = { url, method: 'GET', headers: new Headers() } as Request
    for (const files of stores) expect(await files.serve?.(request)).toBeUndefined()
  }
})

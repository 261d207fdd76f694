/**
 * Reading what was uploaded: links to private files, and public ones (spec 4.3, `acl`; `signUrls`).
 */

import { describe, expect, it } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import type { CacheStore } from '../../src/index.ts'
import { album } from './album.ts'
import { form, png } from './png.ts'

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

  it('lets a client that has read it write on condition', async () => {
    const { upload, send } = album({ upload: { signUrls: 600_000 } })
    const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const path = `/photos/${made.record._id}`
    const etag = (await send('GET', path)).headers.get('etag') ?? ''
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const headers = { 'if-match': etag }
    expect((await send('PATCH', path, { json: { rating: 4 }, headers })).status).toBe(200)
    expect((await send('PATCH', path, { json: { rating: 5 }, headers })).status).toBe(412)
  })

  it('is signed for longer than a cache keeps the answer that shows the link', async () => {
    const kept: number[] = []
    const memory = memoryCache()
    const store: CacheStore = {
      ...memory,
      set(key, value, ttl) {
        if (value.includes('expires=')) kept.push(ttl)
        return memory.set(key, value, ttl)
      },
    }
    for (const signUrls of [2, 7, 600, 604_800]) {
      const { upload, send } = album({
        upload: { signUrls },
        router: { cache: { store, ttl: 1_000_000 } },
      })
      const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
      kept.length = 0
      const read = await send('GET', `/photos/${record._id}`)
      expect(read.headers.get('x-cache')).toBe('MISS')
      const [, expires] = /expires=(\d+)/.exec(String(read.record.image)) ?? []
      expect(kept).not.toEqual([])
      for (const ttl of kept) expect(Date.now() / 1000 + ttl).toBeLessThan(Number(expires))
    }
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
    const resumed = { range: 'bytes=1-3', 'if-range': '"other"' }
    expect((await send('GET', url, { headers: resumed })).status).toBe(200)
    expect((await send('GET', url, { headers: { range: 'bytes=0-1,3-4' } })).status).toBe(200)
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
      expect((await send(method, String(record.image))).status).toBe(404)
    }
  })

  it('stands behind the guards of the whole app', async () => {
    const { app, upload, send } = album({ upload: { acl: 'public-read' } })
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    app.use(() => new Response('closed', { status: 503 }))
    expect((await send('GET', String(record.image))).status).toBe(503)
  })
})

import { describe, expect, it } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import type { CacheOptions } from '../../src/index.ts'
import { album } from '../uploads/album.ts'
import { form, png } from '../uploads/png.ts'

/** An album behind a cache, and the ttl of each answer that was kept. */
function cachedAlbum(signUrls?: number, cache: true | CacheOptions = true) {
  const inner = memoryCache()
  const ttls: number[] = []
  const store = {
    ...inner,
    set: (key: string, value: string, ttl: number) => {
      if (key.startsWith('cs:a')) ttls.push(ttl)
      return inner.set(key, value, ttl)
    },
  }
  const upload = signUrls === undefined ? {} : { upload: { signUrls } }
  return { ...album({ ...upload, router: { cache }, app: { cache: store } }), ttls }
}

describe('the cache and files', () => {
  it('an upload, its replacement and its removal are shown at once', async () => {
    const { upload, send } = cachedAlbum()
    const made = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const path = `/photos/${made.record._id}`
    const read = async () => {
      const list = (await send('GET', '/photos')).records
      const one = await send('GET', path)
      return [list[0]?.image, one.status === 200 ? one.record.image : one.status]
    }
    await read()
    expect(await read()).toEqual([made.record.image, made.record.image])
    const next = await upload('PATCH', path, form({ image: png }))
    expect(next.record.image).not.toBe(made.record.image)
    await read()
    expect(await read()).toEqual([next.record.image, next.record.image])
    await send('PATCH', path, { json: { image: null } })
    expect(await read()).toEqual([null, null])
    await send('DELETE', path)
    expect(await read()).toEqual([undefined, 404])
  })

  it('a kept link to a private file opens for as long as the answer is kept', async () => {
    const { upload, send, ttls } = cachedAlbum(10)
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    for (const seen of ['MISS', 'HIT']) {
      const answer = await send('GET', `/photos/${record._id}`)
      expect(answer.headers.get('x-cache')).toBe(seen)
      expect((await send('GET', String(answer.record.image))).status).toBe(200)
    }
    // Half of what is promised: links are signed for as much longer.
    expect(ttls).toEqual([5])
  })

  it('links that live longer than answers do not lengthen the ttl', async () => {
    const { upload, send, ttls } = cachedAlbum(3600, { ttl: 30 })
    await upload('POST', '/photos', form({ title: 'x', image: png }))
    await send('GET', '/photos')
    expect(ttls).toEqual([30])
  })

  it('a file itself is not an answer that is kept', async () => {
    const { upload, send, files, ttls } = cachedAlbum()
    const { record } = await upload('POST', '/photos', form({ title: 'x', image: png }))
    const link = await files.signedUrl(String(record.image), 60)
    for (let time = 0; time < 2; time += 1) {
      const answer = await send('GET', link)
      expect([answer.status, answer.headers.has('x-cache')]).toEqual([200, false])
    }
    expect((await send('GET', String(record.image))).status).toBe(403)
    expect(ttls).toEqual([])
  })
})

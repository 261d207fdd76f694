/**
 * Images that are made smaller on their way in: which, how strongly, and what happens when that fails.
 */

import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { sharpImages } from '../../adapters/images/sharp.ts'
import type { ImageOptimizer, UploadOptions } from '../../src/index.ts'
import { strippedBytes } from '../../src/uploads/strip/stripped.ts'
import { cat, lyingCat, mandrill } from '../contract/images/photos.ts'
import { album, type PhotoValues } from './album.ts'
import { form } from './png.ts'

type Upload = UploadOptions<keyof PhotoValues>

const images = sharpImages()
const jpeg = new Uint8Array(await strippedBytes(cat.bytes, 'image/jpeg'))

/** The share of the photo's size that is stored. */
async function share(upload: Upload, more: Parameters<typeof sent>[1] = {}): Promise<number> {
  return (await sent(upload, more)).length / jpeg.length
}

/** Uploads a photo, and gives the stored bytes. */
async function sent(
  upload: Upload,
  {
    bytes = jpeg,
    query = '',
    field,
    header,
    optimizer = images,
  }: {
    bytes?: Uint8Array<ArrayBuffer>
    query?: string
    field?: string
    header?: string
    optimizer?: ImageOptimizer
  } = {},
): Promise<Buffer> {
  const served = album({ upload: { acl: 'public-read', ...upload }, app: { images: optimizer } })
  const body = form({ title: 'x', image: bytes, ...(field && { imgOptimizations: field }) })
  const headers: Record<string, string> = header ? { 'x-img-optimizations': header } : {}
  const made = await served.upload('POST', `/photos${query}`, body, { headers })
  if (made.status !== 201) throw new Error(`${made.status} ${made.body.error}`)
  expect(made.record.imgOptimizations).toBeUndefined()
  const stored = await served.app.handle(new Request(`http://localhost${made.record.image}`))
  return Buffer.from(await stored.arrayBuffer())
}

describe('uploaded images', () => {
  it('are stored as they came unless the router says otherwise', async () => {
    expect((await sent({})).equals(jpeg)).toBe(true)
  })

  it('are made as small as the level says', async () => {
    expect(await share({ imgOptimizations: 'low' })).toBeCloseTo(0.775, 1)
    expect(await share({ imgOptimizations: 'medium' })).toBeCloseTo(0.625, 1)
    expect(await share({ imgOptimizations: 'high' })).toBeCloseTo(0.425, 1)
  })

  it('follow the client by query, body field or header, only where it may choose', async () => {
    const high = { query: '?imgOptimizations=high' }
    expect(await share({}, high)).toBe(1)
    expect(await share({ imgOptimizations: 'low' }, high)).toBeGreaterThan(0.7)
    const chooses = { allowClientImageOptions: true } as const
    expect(await share(chooses)).toBe(1)
    expect(await share(chooses, high)).toBeLessThan(0.5)
    expect(await share(chooses, { field: 'high' })).toBeLessThan(0.5)
    expect(await share(chooses, { header: 'high' })).toBeLessThan(0.5)
    expect(await share(chooses, { query: '?imgOptimizations=low', field: 'high' })).toBeGreaterThan(
      0.7,
    )
    const fallback = { ...chooses, imgOptimizations: 'low' } as const
    for (const header of ['best', '', 'none', '__proto__']) {
      expect(await share(fallback, { header })).toBeGreaterThan(0.7)
    }
  })

  it('stand upright and tell nothing of their maker', async () => {
    const lying = new Uint8Array((await lyingCat()).bytes)
    const stored = await sent({ imgOptimizations: 'medium' }, { bytes: lying })
    expect(await sharp(stored).metadata()).toMatchObject({ width: 800, height: 1042 })
    expect(stored.includes('somebody')).toBe(false)
  })

  it('are stored as they came when the encoder fails', async () => {
    const broken: ImageOptimizer = { optimize: () => Promise.reject(new Error('no memory')) }
    const stored = await sent({ imgOptimizations: 'high' }, { optimizer: broken })
    expect(stored.equals(jpeg)).toBe(true)
    const cut = jpeg.slice(0, 5000)
    expect((await sent({ imgOptimizations: 'high' }, { bytes: cut })).equals(cut)).toBe(true)
  })

  it('are asked of the optimiser only where it knows their format', async () => {
    const asked: string[] = []
    const optimizer: ImageOptimizer = {
      async optimize(bytes, contentType) {
        asked.push(contentType)
        return bytes
      },
    }
    const gif = new Uint8Array(await sharp(mandrill.bytes).resize(8).gif().toBuffer())
    const avif = new Uint8Array(await sharp(mandrill.bytes).resize(8).avif().toBuffer())
    const webp = new Uint8Array(await sharp(mandrill.bytes).resize(8).webp().toBuffer())
    for (const bytes of [gif, avif, webp, jpeg, new Uint8Array(mandrill.bytes)]) {
      await sent({ imgOptimizations: 'low' }, { bytes, optimizer })
    }
    expect(asked).toEqual(['image/webp', 'image/jpeg', 'image/png'])
  })

  it('of too many pixels are a 400 where they are optimised, and nothing is stored', async () => {
    const clean = await strippedBytes(mandrill.bytes, 'image/png')
    const bomb = new Uint8Array(clean.slice(0, 5000))
    new DataView(bomb.buffer).setUint32(16, 65_535)
    new DataView(bomb.buffer).setUint32(20, 65_535)
    const served = album({ upload: { imgOptimizations: 'low' }, app: { images: sizes } })
    const refused = await served.upload('POST', '/photos', form({ title: 'x', image: bomb }))
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'File upload error: Image has too many pixels',
    ])
    expect(served.calls).toEqual([])
    expect((await sent({}, { bytes: bomb })).equals(bomb)).toBe(true)
  })
})

/** sharp, told by the header alone: the bomb's checksum would be refused first. */
const sizes: ImageOptimizer = {
  optimize: async (bytes, contentType, level, maxPixels) => {
    const { optimizerWith } = await import('../../adapters/images/codecs.ts')
    return optimizerWith(() => Promise.reject(new Error('not reached')), {}, maxPixels).optimize(
      bytes,
      contentType,
      level,
      maxPixels,
    )
  },
}

/**
 * Metadata of images is not stored, whether they are made smaller or not (review R14).
 */

import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { sharpImages } from '../../adapters/images/sharp.ts'
import { wasmImages } from '../../adapters/images/wasm.ts'
import type { ImageOptimizer, OptimizationLevel } from '../../src/index.ts'
import { type Source, stripped, strippedBytes } from '../../src/uploads/strip/stripped.ts'
import { cat } from '../contract/images/photos.ts'
import { album, pieces } from './album.ts'
import { form } from './png.ts'
import { type Format, pngChunk, riffChunk, SECRET, segment, tagged } from './tagged.ts'

const FORMATS: readonly Format[] = ['jpeg', 'png', 'webp']

const pixelsOf = (bytes: Uint8Array) => sharp(bytes).keepIccProfile().raw().toBuffer()

/** Uploads an image, and gives what is stored. */
async function stored(
  image: Uint8Array<ArrayBuffer>,
  { level, images, acl = 'public-read' as const }: Options = {},
): Promise<Buffer> {
  const served = album({
    upload: { acl, ...(level && { imgOptimizations: level }) },
    app: { ...(images && { images }) },
  })
  const made = await served.upload('POST', '/photos', form({ title: 'x', image }))
  expect(made.status).toBe(201)
  const url = await served.files.signedUrl(String(made.record.image), 60)
  const read = await served.app.handle(new Request(`http://localhost${url}`))
  const bytes = Buffer.from(await read.arrayBuffer())
  expect(Number(read.headers.get('content-length'))).toBe(bytes.length)
  return bytes
}

interface Options {
  readonly level?: OptimizationLevel
  readonly images?: ImageOptimizer
  readonly acl?: 'private' | 'public-read'
}

const broken: ImageOptimizer = { optimize: () => Promise.reject(new Error('no memory')) }
const lazy: ImageOptimizer = { optimize: async (bytes) => bytes }
const telling: ImageOptimizer = {
  optimize: async (bytes, type) => (await tagged(type.slice(6) as Format)).slice(0, bytes.length),
}

describe.each(FORMATS)('a %s image with metadata', (format) => {
  it('has it, to begin with', async () => {
    const image = await tagged(format)
    const { exif, xmp, icc, orientation } = await sharp(image).metadata()
    expect([exif, xmp, icc].every((part) => part !== undefined)).toBe(true)
    expect(orientation).toBe(6)
    expect(Buffer.from(image).includes(SECRET)).toBe(true)
  })

  it.each(['private', 'public-read'] as const)(
    'is stored without, its pixels, colours and orientation as they were (%s)',
    async (acl) => {
      const image = await tagged(format)
      const bytes = await stored(image, { acl })
      expect(bytes.includes(SECRET)).toBe(false)
      expect(bytes.includes('GPS')).toBe(false)
      const before = await sharp(image).metadata()
      const after = await sharp(bytes).metadata()
      expect(after).toMatchObject({ orientation: 6, width: 90, height: 60, format })
      expect(after.icc).toEqual(before.icc)
      expect([after.xmp, after.iptc, after.comments]).toEqual([undefined, undefined, undefined])
      expect((after.exif as Buffer).length).toBeLessThanOrEqual(32)
      expect((await pixelsOf(bytes)).equals(await pixelsOf(image))).toBe(true)
    },
  )

  it('keeps no EXIF data where the pixels stand upright', async () => {
    const { exif, orientation } = await sharp(await stored(await tagged(format, 1))).metadata()
    expect([exif, orientation ?? 1]).toEqual([undefined, 1])
  })

  it.each([2, 3, 4, 5, 6, 7, 8])('stands as it stood (%i)', async (orientation) => {
    const bytes = await strippedBytes(await tagged(format, orientation), `image/${format}`)
    expect((await sharp(bytes).metadata()).orientation).toBe(orientation)
  })

  it.each(Object.entries({ sharp: sharpImages(), wasm: wasmImages(), broken, lazy, telling }))(
    'tells nothing where it is to become smaller (%s)',
    async (_, images) => {
      const image = await tagged(format)
      const bytes = await stored(image, { level: 'low', images })
      expect(bytes.includes(SECRET)).toBe(false)
      if (images === telling) return
      const upright = (of: Uint8Array) =>
        sharp(of).autoOrient().toBuffer({ resolveWithObject: true })
      expect((await upright(bytes)).info).toMatchObject({ width: 60, height: 90 })
    },
  )

  it('is the same however its bytes arrive, and a second time', async () => {
    const image = await tagged(format)
    const mime = `image/${format}`
    const whole = await strippedBytes(image, mime)
    for (const size of [1, 2, 3, 7, 100, 1000]) {
      const chunks = Array.from({ length: Math.ceil(image.length / size) }, (_, index) =>
        image.subarray(index * size, (index + 1) * size),
      )
      const source: Source = { size: image.length, stream: () => pieces(chunks) }
      const found = await stripped(source, mime)
      expect(found.size).toBe(whole.length)
      expect(Buffer.from(await new Response(found.stream()).arrayBuffer()).equals(whole)).toBe(true)
    }
    expect(await strippedBytes(whole, mime)).toEqual(whole)
  })
})

it('a WebP image that EXIF data turns stands upright where it is to become smaller in WebAssembly', async () => {
  const turned = sharp(cat.bytes).resize(900, 600, { fit: 'fill' }).withMetadata({ orientation: 6 })
  const image = new Uint8Array(await turned.webp({ quality: 95 }).toBuffer())
  const bytes = await stored(image, { level: 'low', images: wasmImages() })
  expect(
    (await sharp(bytes).autoOrient().toBuffer({ resolveWithObject: true })).info,
  ).toMatchObject({ width: 600, height: 900 })
})

describe('a JPEG image', () => {
  it('loses a thumbnail in its JFIF header', async () => {
    const image = Buffer.from(await tagged('jpeg', 1))
    const thumbnail = `JFIF\0\x01\x02\0\0\x01\0\x01\x02\x03${SECRET.slice(0, 18)}`
    const bytes = await strippedBytes(
      Buffer.concat([image.subarray(0, 2), segment(0xe0, thumbnail), image.subarray(2)]),
      'image/jpeg',
    )
    expect(Buffer.from(bytes).includes(SECRET.slice(0, 18))).toBe(false)
    expect(Buffer.from(bytes.subarray(2, 20))).toEqual(
      segment(0xe0, 'JFIF\0\x01\x02\0\0\x01\0\x01\0\0'),
    )
    expect((await sharp(bytes).metadata()).width).toBe(90)
  })

  it('hides nothing between its segments or its scans', async () => {
    const image = await sharp(await tagged('jpeg', 1))
      .jpeg({ progressive: true })
      .toBuffer()
    const scan = image.lastIndexOf(Buffer.from([0xff, 0xda]))
    const hidden = segment(0xe1, `Exif\0\0${SECRET}`)
    const bytes = await strippedBytes(
      Buffer.concat([
        image.subarray(0, 2),
        Buffer.from(`junk\xff\0\xff\xff`, 'latin1'),
        hidden,
        image.subarray(2, scan),
        hidden,
        image.subarray(scan),
      ]),
      'image/jpeg',
    )
    expect(Buffer.from(bytes).includes(SECRET)).toBe(false)
    expect((await pixelsOf(bytes)).equals(await pixelsOf(image))).toBe(true)
  })
})

/** `image` with `more` after its first `at` bytes. */
const inserted = (image: Uint8Array, at: number, more: Uint8Array) =>
  new Uint8Array(Buffer.concat([image.subarray(0, at), more, image.subarray(at)]))

/** Places for a text in an image that viewers don't draw from. */
const HIDDEN: Readonly<Record<Format, Readonly<Record<string, Uint8Array>>>> = {
  jpeg: {
    ...Object.fromEntries(
      [0xc8, 0xde, 0xdf, 0xf0, 0xf7, 0xfd].map((marker) => [
        `the segment ${marker.toString(16)}`,
        segment(marker, SECRET),
      ]),
    ),
    'a number of lines in front': segment(0xdc, `\0\x3c${SECRET}`),
    "Adobe's segment": segment(0xee, `Adobe\0\x64\0\0\0\0\x01${SECRET}`),
    'a colour profile without one': segment(0xe2, `ICC_PROFILE\0\x01\x01\0\0\0\x04${SECRET}`),
    'a restart interval': segment(0xdd, `\0\0${SECRET}`),
    'a quantization table': segment(0xdb, `\0${'\x01'.repeat(64)}${SECRET}`),
  },
  png: {
    pHYs: pngChunk('pHYs', `\0\0\x0b\x13\0\0\x0b\x13\x01${SECRET}`),
    gAMA: pngChunk('gAMA', `\0\x01\x86\xa0${SECRET}`),
    tRNS: pngChunk('tRNS', SECRET),
    bKGD: pngChunk('bKGD', SECRET),
    'an unknown critical chunk': pngChunk('PrVt', SECRET),
    'a second chunk of a kind': Buffer.concat([
      pngChunk('cHRM', 'x'.repeat(32)),
      pngChunk('cHRM', SECRET.padEnd(32)),
    ]),
  },
  webp: {
    'an unknown chunk': riffChunk('priv', SECRET),
    'a second XMP': riffChunk('XMP ', SECRET),
  },
}
/** Where what is hidden may come: after the start, and after the header. */
const AFTER: Readonly<Record<Format, number>> = { jpeg: 2, png: 33, webp: 30 }

describe.each(FORMATS)('a %s image', (format) => {
  it.each(Object.keys(HIDDEN[format]))('keeps no text in %s', async (place) => {
    const image = await strippedBytes(await tagged(format, 1), `image/${format}`)
    const more = HIDDEN[format][place] as Uint8Array
    const found = await strippedBytes(inserted(image, AFTER[format], more), `image/${format}`)
    expect(Buffer.from(found).includes(SECRET)).toBe(false)
    expect((await pixelsOf(found)).equals(await pixelsOf(image))).toBe(true)
  })
})

it('a JPEG image keeps no text between its scans, nor behind its colour profile', async () => {
  const progressive = sharp(cat.bytes).resize(90).withIccProfile('p3').jpeg({ progressive: true })
  const image = await progressive.toBuffer()
  const scans = [...image.entries()].filter(
    ([at, byte]) =>
      byte === 0xff && image[at + 1] === 0xc4 && at > image.indexOf('\xff\xda', 'latin1'),
  )
  const at = scans.at(-1)?.[0] ?? 0
  const size = image.readUInt16BE(at + 2)
  const between = inserted(image, at + 2 + size, Buffer.from(SECRET))
  const profile = image.indexOf('ICC_PROFILE')
  const length = image.readUInt16BE(profile - 2)
  const longer = inserted(between, profile - 2 + length, Buffer.from(SECRET))
  Buffer.from(longer.buffer).writeUInt16BE(length + SECRET.length, profile - 2)
  const found = await strippedBytes(longer, 'image/jpeg')
  expect(Buffer.from(found).includes(SECRET)).toBe(false)
  expect((await sharp(found).metadata()).icc).toEqual((await sharp(image).metadata()).icc)
  expect((await pixelsOf(found)).equals(await pixelsOf(image))).toBe(true)
})

it('an animation in WebP keeps no text in its frames, and moves as before', async () => {
  const frames = await Promise.all(
    ['red', 'lime', 'blue'].map((background) =>
      sharp({ create: { width: 40, height: 30, channels: 4, background } })
        .png()
        .toBuffer(),
    ),
  )
  const image = await sharp(frames, { join: { animated: true } })
    .webp({ loop: 0 })
    .toBuffer()
  const at = image.indexOf('ANMF')
  const size = image.readUInt32LE(at + 4)
  const more = riffChunk('note', SECRET)
  const changed = Buffer.from(inserted(image, at + 8 + size, more))
  changed.writeUInt32LE(size + more.length, at + 4)
  changed.writeUInt32LE(changed.length - 8, 4)
  const found = await strippedBytes(new Uint8Array(changed), 'image/webp')
  expect(Buffer.from(found).includes(SECRET)).toBe(false)
  const moving = (bytes: Uint8Array) => sharp(bytes, { animated: true }).raw().toBuffer()
  expect((await moving(found)).equals(await moving(image))).toBe(true)
})

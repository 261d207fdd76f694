/**
 * Small files that cost much where images are optimised: refused, or stored as they came, in no time.
 */

import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { sharpImages } from '../../adapters/images/sharp.ts'
import { wasmImages } from '../../adapters/images/wasm.ts'
import { processorClock } from '../limits/processor-time.ts'
import { album } from './album.ts'
import { form } from './png.ts'

const MIB = 1024 * 1024
const FRAMES = 10_000
/** Of the processor's time. */
const MOST_MS = 2000

type Bytes = Uint8Array<ArrayBuffer>

/** A GIF image of many frames of one pixel. */
function movingGif(): Bytes {
  const head = Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  const frame = Buffer.from('!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0', 'latin1')
  return new Uint8Array(Buffer.concat([head, ...Array(FRAMES).fill(frame), Buffer.from(';')]))
}

/** A WebP image of as many: RIFF chunks around one still image (RFC 9649). */
async function movingWebp(): Promise<Bytes> {
  const still = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .webp({ lossless: true })
    .toBuffer()
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(16), still.subarray(12)]))
  const header = chunk('VP8X', Buffer.from([0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
  const frames = Array<Buffer>(FRAMES).fill(frame)
  const animation = chunk('ANIM', Buffer.alloc(6))
  const content = Buffer.concat([Buffer.from('WEBP'), header, animation, ...frames])
  return new Uint8Array(chunk('RIFF', content))
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

/** The start of an AVIF image that promises more. */
async function cutAvif(): Promise<Bytes> {
  const whole = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .avif()
    .toBuffer()
  return new Uint8Array(whole.subarray(0, 200))
}

const bombs: Record<string, Bytes> = {
  'a GIF image of 10,000 frames': movingGif(),
  'a WebP image of 10,000 frames': await movingWebp(),
  'an AVIF image that is cut off': await cutAvif(),
}

for (const [by, images] of Object.entries({ sharp: sharpImages(), wasm: wasmImages() })) {
  describe(`with ${by}`, () => {
    for (const [name, bytes] of Object.entries(bombs)) {
      it(`${name} is stored as it came`, async () => {
        const served = album({
          upload: { imgOptimizations: 'high', acl: 'public-read' },
          app: { images },
        })
        const before = process.memoryUsage().rss
        const times: number[] = []
        let image: unknown
        // Whatever else this process does is in its time.
        for (let tries = 0; tries < 3 && !(Math.min(...times) < MOST_MS); tries += 1) {
          const passed = processorClock()
          const sent = form({ title: `x${tries}`, image: bytes })
          const made = await served.upload('POST', '/photos', sent)
          times.push(passed())
          expect(made.status).toBe(201)
          image = made.record.image
        }
        expect(Math.min(...times)).toBeLessThan(MOST_MS)
        // The allocator of libvips keeps up to 270 MiB for itself.
        expect(process.memoryUsage().rss - before).toBeLessThan(512 * MIB)
        const url = `http://localhost${image}`
        const stored = await served.app.handle(new Request(url))
        expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true)
      })
    }
  })
}

/** A PNG image of one bit a pixel, all of them black. */
async function blackPng(width: number, height: number): Promise<Bytes> {
  const create = { width, height, channels: 3, background: 'black' } as const
  return new Uint8Array(
    await sharp({ create, limitInputPixels: false })
      .toColourspace('b-w')
      .png({ palette: true, colours: 2, effort: 1, compressionLevel: 9 })
      .toBuffer(),
  )
}

describe('a PNG image of few bytes and almost 50 megapixels', () => {
  const sizes = [
    [7000, 7100],
    [65_535, 760],
  ] as const
  const made = new Map(sizes.map(([width, height]) => [width, blackPng(width, height)]))
  for (const [by, images] of Object.entries({ sharp: sharpImages(), wasm: wasmImages() })) {
    it.each(sizes)(
      `%i × %i is stored as it is, in no time (${by})`,
      async (width) => {
        const bytes = (await made.get(width)) ?? new Uint8Array()
        expect(bytes.length).toBeLessThan(30_000)
        const { upload } = album({ upload: { imgOptimizations: 'high' }, app: { images } })
        const before = process.memoryUsage().rss
        const passed = processorClock()
        const { status } = await upload('POST', '/photos', form({ title: 'x', image: bytes }))
        expect(status).toBe(201)
        expect(passed()).toBeLessThan(MOST_MS)
        expect(process.memoryUsage().rss - before).toBeLessThan(256 * MIB)
      },
      60_000,
    )
  }
})

it('the images of many frames are what they are said to be', async () => {
  for (const name of ['a GIF image of 10,000 frames', 'a WebP image of 10,000 frames']) {
    expect((await sharp(bombs[name]).metadata()).pages, name).toBe(FRAMES)
  }
})

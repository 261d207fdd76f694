/**
 * What optimisation makes of real photographs: their sizes, their colours, and which side is up.
 */

import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { sharpImages } from '../../../adapters/images/sharp.ts'
import { wasmImages } from '../../../adapters/images/wasm.ts'
import { claiming } from '../../../extras/contract/images.ts'
import type { ImageOptimizer, OptimizationLevel } from '../../../src/index.ts'
import { TooManyPixels } from '../../../src/ports/services/images.ts'
import { processorClock } from '../../limits/processor-time.ts'
import {
  cat,
  catPng,
  difference,
  largeCat,
  lyingCat,
  mandrill,
  mandrillWebp,
  type Photo,
} from './photos.ts'

const LEVELS: readonly OptimizationLevel[] = ['low', 'medium', 'high']
const MOST = { low: 0.8, medium: 0.65, high: 0.45 }
/** 50 megapixels, and a minute: on a busy machine all qualities are tried that a quiet one would try. */
const LIMITS = [50_000_000, 60_000] as const

const optimizers = { sharp: sharpImages(), wasm: wasmImages() }
const photos = [cat, await mandrillWebp(), catPng]
const table: string[] = []

const HEADINGS =
  '| photograph | by | level | bytes | becomes | share | ms |\n|---|---|---|---|---|---|---|'

afterAll(() => console.log([HEADINGS, ...table].join('\n')))

for (const [by, images] of Object.entries(optimizers)) {
  describe(`optimisation with ${by}`, () => {
    for (const photo of photos) {
      it(`makes ${photo.name} smaller, level by level, with its colours`, async () => {
        // PNG in WebAssembly is optimised without loss, whatever the level.
        const isExact = by === 'wasm' && photo.type === 'image/png'
        for (const level of isExact ? LEVELS.slice(0, 1) : LEVELS) {
          const made = await measured(by, images, photo, level)
          const share = made.length / photo.bytes.length
          expect(share).toBeLessThanOrEqual(mostOf(by, photo.type, level))
          expect((await sharp(made).metadata()).format).toBe(photo.type.slice('image/'.length))
          expect(await difference(made, photo.bytes)).toBeLessThan(10)
        }
      }, 300_000)
    }

    it('meets the shares of a JPEG photograph, and 400 to 700 KB where it was over 1 MiB', async () => {
      const made = await Promise.all(LEVELS.map((level) => measured(by, images, cat, level)))
      const sizes = made.map(({ length }) => length)
      const shares = sizes.map((size) => size / cat.bytes.length)
      expect(shares[0]).toBeGreaterThan(0.7)
      expect(shares[1]).toBeGreaterThan(0.55)
      expect(shares[2]).toBeGreaterThan(0.37)
      const large = await largeCat()
      expect(large.bytes.length).toBeGreaterThan(1024 * 1024)
      const kilobytes = (await measured(by, images, large, 'high')).length / 1024
      expect(kilobytes).toBeGreaterThanOrEqual(350)
      expect(kilobytes).toBeLessThanOrEqual(700)
    }, 300_000)

    it('turns the pixels upright before it drops the metadata', async () => {
      const lying = await lyingCat()
      const before = await sharp(lying.bytes).metadata()
      expect(before).toMatchObject({ width: 1042, height: 800, orientation: 6 })
      expect(before.exif).toBeDefined()
      const made = await images.optimize(lying.bytes, lying.type, 'medium', ...LIMITS)
      const after = await sharp(made).metadata()
      expect(after).toMatchObject({ width: 800, height: 1042 })
      expect(after.orientation ?? 1).toBe(1)
      expect(after.exif).toBeUndefined()
      expect(Buffer.from(made).includes('somebody')).toBe(false)
      expect(await difference(made, cat.bytes)).toBeLessThan(8)
    })

    it('leaves an image alone that cannot become smaller', async () => {
      const small = await sharp(cat.bytes).resize(40).jpeg({ quality: 10 }).toBuffer()
      const made = await images.optimize(new Uint8Array(small), 'image/jpeg', 'low', ...LIMITS)
      expect(made.length).toBeLessThanOrEqual(small.length)
      const tiny = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
        .png()
        .toBuffer()
      const same = await images.optimize(new Uint8Array(tiny), 'image/png', 'high', ...LIMITS)
      expect(same.length).toBeLessThanOrEqual(tiny.length)
    })

    it('keeps every frame of a WebP image that moves', async () => {
      const frames = await Promise.all(
        ['red', 'green', 'blue'].map((background) =>
          sharp({ create: { width: 64, height: 64, channels: 3, background } })
            .png()
            .toBuffer(),
        ),
      )
      const moving = new Uint8Array(
        await sharp(frames, { join: { animated: true } })
          .webp()
          .toBuffer(),
      )
      expect((await sharp(moving).metadata()).pages).toBe(3)
      expect(await images.optimize(moving, 'image/webp', 'high', ...LIMITS)).toEqual(moving)
    })

    it('refuses by its header what has too many pixels, and rejects what is cut off', async () => {
      const passed = processorClock()
      const memory = process.memoryUsage().rss
      const bomb = hugePng(65_535, 65_535)
      await expect(images.optimize(bomb, 'image/png', 'low', ...LIMITS)).rejects.toThrow(
        TooManyPixels,
      )
      const cut = cat.bytes.subarray(0, 3000)
      await expect(images.optimize(cut, 'image/jpeg', 'low', ...LIMITS)).rejects.toThrow(Error)
      expect(passed()).toBeLessThan(2000)
      expect(process.memoryUsage().rss - memory).toBeLessThan(256 * 1024 * 1024)
    })
  })
}

const done = new Map<string, Promise<Uint8Array>>()

/** Optimises, and notes what came of it; each photograph once for a level. */
function measured(
  by: string,
  images: ImageOptimizer,
  photo: Photo,
  level: OptimizationLevel,
): Promise<Uint8Array> {
  const key = [by, photo.name, level].join()
  const known = done.get(key) ?? optimised(by, images, photo, level)
  done.set(key, known)
  return known
}

async function optimised(
  by: string,
  images: ImageOptimizer,
  photo: Photo,
  level: OptimizationLevel,
): Promise<Uint8Array> {
  const started = performance.now()
  const made = await images.optimize(photo.bytes, photo.type, level, ...LIMITS)
  const ms = Math.round(performance.now() - started)
  const share = ((made.length / photo.bytes.length) * 100).toFixed(1)
  const sizes = `${photo.bytes.length} | ${made.length} | ${share} %`
  table.push(`| ${photo.name} | ${by} | ${level} | ${sizes} | ${ms} |`)
  return made
}

/** PNG in WebAssembly is optimised without loss, which photographs have little to gain from. */
function mostOf(by: string, type: string, level: OptimizationLevel): number {
  return by === 'wasm' && type === 'image/png' ? 1 : MOST[level]
}

/** A PNG image whose header promises more pixels than anybody may decode. */
function hugePng(width: number, height: number): Uint8Array {
  return claiming(mandrill.bytes.slice(0, 5000), width, height)
}

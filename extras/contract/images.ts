/** The promises of every image optimiser: each sentence of src/ports/services/images.ts as a check. It runs in any runtime. */

import { headerOf } from '../../src/ports/services/image-header.ts'
import {
  type ImageOptimizer,
  type OptimizationLevel,
  TooManyPixels,
} from '../../src/ports/services/images.ts'
import { crc32 } from '../../src/uploads/strip/png.ts'
import { deepEqual, equal, ok, rejects } from './assert.ts'
import { AUTHOR, jpeg, moving, png, type Sample, webp } from './image-samples.ts'
import type { Contract } from './verify.ts'

const LEVELS: readonly OptimizationLevel[] = ['low', 'medium', 'high']
const SAMPLES = [jpeg, png, webp]
const MEGAPIXEL = 1_000_000

function isAsGiven(made: Uint8Array, { bytes }: Sample): boolean {
  return made.length === bytes.length && bytes.every((byte, at) => byte === made[at])
}

/** Whether `bytes` contain `text`. */
function includes(bytes: Uint8Array, text: string): boolean {
  return String.fromCharCode(...bytes).includes(text)
}

/** `bytes` with another number of pixels in the header of a PNG image. */
export function claiming(bytes: Uint8Array, width: number, height: number): Uint8Array {
  const copy = bytes.slice()
  const view = new DataView(copy.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  view.setUint32(29, crc32(copy.subarray(12, 29)))
  return copy
}

function isWhole(made: Uint8Array, sample: Sample): void {
  ok(made.length <= sample.bytes.length, `${sample.type} grew to ${made.length} bytes`)
  if (isAsGiven(made, sample)) return
  const { width, height } = headerOf(made, sample.type)
  deepEqual([width, height], [sample.width, sample.height], sample.type)
}

async function isWithout(images: ImageOptimizer, sample: Sample): Promise<void> {
  const made = await images.optimize(sample.bytes, sample.type, 'medium', MEGAPIXEL)
  ok(isAsGiven(made, sample) || !includes(made, AUTHOR), `${sample.type} names its author`)
}

/** The image optimiser contract. */
export const imageContract: Contract<ImageOptimizer> = {
  async 'an image comes back upright, in its format and size, and no larger'(images) {
    for (const sample of SAMPLES) {
      for (const level of LEVELS) {
        isWhole(await images.optimize(sample.bytes, sample.type, level, MEGAPIXEL), sample)
      }
    }
  },
  async 'an image that could be much smaller becomes smaller'(images) {
    for (const sample of SAMPLES) {
      const made = await images.optimize(sample.bytes, sample.type, 'high', MEGAPIXEL)
      ok(made.length < sample.bytes.length, `${sample.type} has ${made.length} bytes as before`)
    }
  },
  'a JPEG image that has become smaller has no metadata': (images) => isWithout(images, jpeg),
  'a PNG image that has become smaller has no metadata': (images) => isWithout(images, png),
  async 'an image that moves comes back as it came'(images) {
    const made = await images.optimize(moving.bytes, moving.type, 'high', MEGAPIXEL)
    ok(isAsGiven(made, moving), 'other bytes came back')
  },
  async 'more pixels than are allowed reject with TooManyPixels, by the header alone'(images) {
    for (const { bytes, type } of SAMPLES) {
      await rejects(images.optimize(bytes, type, 'low', 100), TooManyPixels)
    }
    const bomb = claiming(png.bytes, 65_535, 65_535)
    await rejects(images.optimize(bomb, png.type, 'low', 50 * MEGAPIXEL), TooManyPixels)
  },
  async 'what cannot be decoded rejects with another error'(images) {
    const isOther = (error: Error) => error instanceof Error && !(error instanceof TooManyPixels)
    for (const { bytes, type } of SAMPLES) {
      const cut = bytes.slice(0, bytes.length / 2)
      await rejects(images.optimize(cut, type, 'low', MEGAPIXEL), isOther)
    }
  },
  async 'the bytes that it was given stay as they were'(images) {
    for (const { bytes, type } of SAMPLES) {
      const before = bytes.slice()
      await images.optimize(bytes, type, 'medium', MEGAPIXEL)
      deepEqual(bytes, before)
    }
  },
  async 'several at once come back each as its own'(images) {
    const many = Array.from({ length: 4 }, () => SAMPLES).flat()
    const made = await Promise.all(
      many.map(({ bytes, type }) => images.optimize(bytes, type, 'medium', MEGAPIXEL)),
    )
    for (const [at, sample] of many.entries()) isWhole(made[at] ?? new Uint8Array(), sample)
  },
  async 'it ends soon after its time, with what it has or an error'(images) {
    const from = performance.now()
    const ended = await images.optimize(jpeg.bytes, jpeg.type, 'high', MEGAPIXEL, 1).then(
      (made) => made.length <= jpeg.bytes.length,
      () => true,
    )
    equal(ended, true)
    ok(performance.now() - from < 5000, 'it took more than five seconds')
  },
}

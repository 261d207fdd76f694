/**
 * Image optimisation with sharp, on Node, Deno and Bun.
 *
 * @module
 */

import type { Sharp, SharpOptions } from 'sharp'
import {
  type ImageOptimizer,
  type OptimizedType,
  TooManyPixels,
} from '../../src/ports/services/images.ts'
import {
  bisectQuality,
  type Encode,
  HIGHEST_QUALITY,
  isEmptyish,
  optimizerOf,
  type SizeTarget,
  sampledQuality,
  sizeTarget,
} from './quality.ts'

type MakeSharp = (bytes: Uint8Array, options?: SharpOptions) => Sharp

/** The most pixels that are held decoded, four bytes each; a larger JPEG image is decoded line by line. */
const MAX_HELD = 12_500_000

/** How many milliseconds a palette for a megapixel of noise takes, by sharp's `effort`; it cannot be interrupted. */
const PALETTE_MS: readonly (readonly [effort: number, ms: number])[] = [
  [7, 20_000],
  [4, 4000],
  [1, 1000],
]

interface Work {
  /** The image from the file, upright. Each use decodes it anew, and ends at the deadline. */
  readonly image: () => Sharp
  readonly sharp: MakeSharp
  readonly pixels: number
  readonly target: SizeTarget
  /** When it must be done, on the clock of `performance.now()`. */
  readonly until: number
}

/**
 * Optimises with sharp, which is loaded with the first image. Above 12.5 megapixels, only JPEG images that are not
 * progressive become smaller, because the others would have to be held decoded in memory.
 *
 * ```ts
 * const app = createApp({ store, files, images: sharpImages() })
 * ```
 */
export function sharpImages(): ImageOptimizer {
  return optimizerOf(async (bytes, contentType, level, maxPixels, until) => {
    const { default: sharp } = await import('sharp')
    const pixels = await pixelsOf(sharp, bytes, contentType, maxPixels)
    if (pixels === undefined) return bytes
    const image = () =>
      sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
        .autoOrient()
        .timeout({ seconds: secondsUntil(until) })
    const target = sizeTarget(bytes.length, level)
    return encoded({ image, sharp, pixels, target, until }, contentType)
  })
}

/** The pixels of an image that can become smaller, by its header; undefined for one that stays as it is. */
async function pixelsOf(
  sharp: MakeSharp,
  bytes: Uint8Array,
  contentType: OptimizedType,
  maxPixels: number,
): Promise<number | undefined> {
  // Without sharp's own limit, so that the error is fieldgate's: only the header is read here.
  const found = await sharp(bytes, { limitInputPixels: false }).metadata()
  const { width, height, pages = 1 } = found
  const pixels = width * height
  if (pixels > maxPixels) throw new TooManyPixels(`${width} × ${height}`)
  const isHeld = contentType !== 'image/jpeg' || found.isProgressive
  const stays = pages > 1 || isEmptyish(bytes.length, pixels) || (isHeld && pixels > MAX_HELD)
  return stays ? undefined : pixels
}

/** sharp counts in whole seconds, at least one. */
function secondsUntil(until: number): number {
  return Math.max(1, Math.floor((until - performance.now()) / 1000))
}

async function encoded(work: Work, contentType: OptimizedType): Promise<Uint8Array> {
  switch (contentType) {
    case 'image/jpeg':
      return lossy(work, (image, quality) => image.jpeg({ quality }))
    case 'image/webp':
      return lossy(work, (image, quality) => image.webp({ quality }))
    case 'image/png':
      return encodedPng(work)
  }
}

/** Decodes once if the pixels can be held, else twice, and once more as a smaller copy. */
async function lossy(
  work: Work,
  encode: (image: Sharp, quality: number) => Sharp,
): Promise<Uint8Array> {
  const { image, pixels, target, until } = work
  const isHeld = pixels <= MAX_HELD
  const side = Math.ceil(Math.sqrt(pixels) / 4)
  // Else a sixteenth of the pixels.
  const small = isHeld ? image() : image().resize(side, side, { fit: 'outside' })
  const held = await decoded(work, small)
  const ofHeld: Encode = (quality) => encode(held(), quality).toBuffer()
  if (isHeld) return bisectQuality(ofHeld, target, until)
  const ofFile: Encode = (quality) => encode(image(), quality).toBuffer()
  return sampledQuality(ofFile, ofHeld, target, until)
}

/** Returns a function that makes images from the decoded pixels of `image`. */
async function decoded({ sharp, until }: Work, image: Sharp): Promise<() => Sharp> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return () =>
    sharp(data, { raw: { width, height, channels } }).timeout({ seconds: secondsUntil(until) })
}

/** A palette loses colours, so an image that is small enough without one keeps them all. */
async function encodedPng(work: Work): Promise<Uint8Array> {
  const { image, target, until, pixels } = work
  const lossless = await image().png({ compressionLevel: 9 }).toBuffer()
  const left = until - performance.now()
  const [effort] = PALETTE_MS.find(([, ms]) => (ms * pixels) / 1e6 < left) ?? []
  if (lossless.length <= target.most || effort === undefined) return lossless
  const held = await decoded(work, image())
  const encode: Encode = (quality) => held().png({ palette: true, quality, effort }).toBuffer()
  const best = await encode(HIGHEST_QUALITY)
  return best.length <= target.most ? best : bisectQuality(encode, target, until)
}

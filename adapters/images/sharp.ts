/**
 * Image optimisation with sharp, on Node, Deno and Bun.
 *
 * @module
 */

import type { Sharp } from 'sharp'
import { type ImageOptimizer, type OptimizedType, TooManyPixels } from '../../src/ports/images.ts'
import { bisectQuality, HIGHEST_QUALITY, type SizeTarget, sizeTarget } from './quality.ts'
import { oneAtATime } from './queue.ts'

/** Encoding one image may take this long. */
const PATIENCE_S = 20

/**
 * Optimises with sharp, which is loaded with the first image. Images wait for each other: a decoded one is many
 * times as large as its file, and sharp uses every core for one.
 *
 * ```ts
 * const app = createApp({ store, files, images: sharpImages() })
 * ```
 */
export function sharpImages(): ImageOptimizer {
  const queued = oneAtATime()
  return {
    optimize: (bytes, contentType, level, maxPixels) =>
      queued(async () => {
        const { default: sharp } = await import('sharp')
        // Without a limit of its own, so that the refusal is ours: only the header is read here.
        const {
          width,
          height,
          pages = 1,
        } = await sharp(bytes, { limitInputPixels: false }).metadata()
        if (width * height > maxPixels) throw new TooManyPixels(`${width} × ${height}`)
        if (pages > 1) return bytes
        const upright = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
          .autoOrient()
          .timeout({ seconds: PATIENCE_S })
        const smaller = await encoded(upright, contentType, sizeTarget(bytes.length, level))
        return smaller.length < bytes.length ? smaller : bytes
      }),
  }
}

async function encoded(
  image: Sharp,
  contentType: OptimizedType,
  target: SizeTarget,
): Promise<Uint8Array> {
  switch (contentType) {
    case 'image/jpeg':
      return bisectQuality((quality) => image.clone().jpeg({ quality }).toBuffer(), target)
    case 'image/webp':
      return bisectQuality((quality) => image.clone().webp({ quality }).toBuffer(), target)
    case 'image/png':
      return encodedPng(image, target)
  }
}

/** A palette loses colours, so an image that is small enough without one keeps them all. */
async function encodedPng(image: Sharp, target: SizeTarget): Promise<Uint8Array> {
  const lossless = await image.clone().png({ compressionLevel: 9 }).toBuffer()
  if (lossless.length <= target.most) return lossless
  const encode = (quality: number) => image.clone().png({ palette: true, quality }).toBuffer()
  const best = await encode(HIGHEST_QUALITY)
  return best.length <= target.most ? best : bisectQuality(encode, target)
}

/** The target size of an optimised image, and the search for the quality that reaches it. */

import type { ImageOptimizer, OptimizationLevel } from '../../src/ports/services/images.ts'

/** The size that an optimised image should have, in bytes. */
export interface SizeTarget {
  readonly least: number
  readonly most: number
}

export type Encode = (quality: number) => Promise<Uint8Array>

const KIB = 1024

const SHARES: Readonly<Record<OptimizationLevel, readonly [least: number, most: number]>> = {
  low: [0.75, 0.8],
  medium: [0.6, 0.65],
  high: [0.4, 0.45],
}

const LOWEST_QUALITY = 25
/** The highest quality tried: above it, files grow without a visible difference. */
export const HIGHEST_QUALITY = 95
/** The first quality tried. */
const MIDDLE_QUALITY = 60

/** The time limit for one image in milliseconds, all its encodings together. */
const PATIENCE_MS = 5000

/** Pixels per byte of a file. Above this, an image is almost empty: little to gain, and much to decode. */
const MAX_PIXELS_PER_BYTE = 50
/** Fewer pixels are decoded in no time. */
const SMALL_IMAGE_PIXELS = 2_000_000

export function sizeTarget(size: number, level: OptimizationLevel): SizeTarget {
  if (level === 'high' && size > KIB * KIB) return { least: 400 * KIB, most: 700 * KIB }
  const [least, most] = SHARES[level]
  return { least: size * least, most: size * most }
}

/** Whether a file of `size` bytes has so many pixels that decoding them costs more than is gained. */
export function isEmptyish(size: number, pixels: number): boolean {
  return pixels > SMALL_IMAGE_PIXELS && pixels > size * MAX_PIXELS_PER_BYTE
}

/**
 * The encoding whose size meets `target`, found by bisecting the quality; else the best one that is not larger, else
 * the smallest, among those made before `until` (on the clock of `performance.now()`).
 */
export async function bisectQuality(
  encode: Encode,
  target: SizeTarget,
  until: number = performance.now() + PATIENCE_MS,
): Promise<Uint8Array> {
  let low = LOWEST_QUALITY
  let high = HIGHEST_QUALITY
  let best: Uint8Array | undefined
  let longest = 0
  while (!best || (low <= high && performance.now() + longest < until)) {
    const quality = Math.floor((low + high) / 2)
    const started = performance.now()
    const bytes = await encode(quality)
    longest = Math.max(longest, performance.now() - started)
    const fits = bytes.length <= target.most
    if (fits && bytes.length >= target.least) return bytes
    // The last one that fits is the best, and the last one that is too large the smallest.
    if (fits || !best || best.length > target.most) best = bytes
    if (fits) low = quality + 1
    else high = quality - 1
  }
  return best
}

/** The same for a large image, encoded only twice: the quality is searched on `sample`, a copy of proportional size. */
export async function sampledQuality(
  encode: Encode,
  sample: Encode,
  target: SizeTarget,
  until: number,
): Promise<Uint8Array> {
  const started = performance.now()
  const first = await encode(MIDDLE_QUALITY)
  const took = performance.now() - started
  const fits = first.length <= target.most
  if (fits && first.length >= target.least) return first
  const share = (await sample(MIDDLE_QUALITY)).length / first.length
  const qualities = new Map<Uint8Array, number>()
  const noting: Encode = async (quality) => {
    const bytes = await sample(quality)
    qualities.set(bytes, quality)
    return bytes
  }
  const sampled = { least: target.least * share, most: target.most * share }
  const best = await bisectQuality(noting, sampled, until - took)
  if (performance.now() + took > until) return first
  const second = await encode(qualities.get(best) ?? MIDDLE_QUALITY)
  return isBetter(second.length, first.length, target) ? second : first
}

/** Whether a size is closer to the target than another: the largest that fits, else the smallest. */
function isBetter(size: number, other: number, { most }: SizeTarget): boolean {
  if (size > most) return size < other
  return other > most || size > other
}

/** An optimiser of one image at a time. `encode` is told last when it must be done; what gains nothing stays as it is. */
export function optimizerOf(
  encode: (...image: Required<Parameters<ImageOptimizer['optimize']>>) => Promise<Uint8Array>,
): ImageOptimizer {
  let last: Promise<unknown> = Promise.resolve()
  return {
    optimize(bytes, contentType, level, maxPixels, timeMs = PATIENCE_MS) {
      const result = last.then(async () => {
        const until = performance.now() + timeMs
        const smaller = await encode(bytes, contentType, level, maxPixels, until)
        return smaller.length < bytes.length ? smaller : bytes
      })
      last = result.catch(() => {})
      return result
    },
  }
}

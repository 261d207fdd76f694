/**
 * How small an optimised image should be, and the search for the quality that makes it so.
 *
 * @module
 */

import type { OptimizationLevel } from '../../src/ports/images.ts'

/** What an optimised image should weigh in bytes. */
export interface SizeTarget {
  readonly least: number
  readonly most: number
}

/** An encoding of an image at a quality. */
export type Encode = (quality: number) => Promise<Uint8Array>

const KIB = 1024

const SHARES: Readonly<Record<OptimizationLevel, readonly [least: number, most: number]>> = {
  low: [0.75, 0.8],
  medium: [0.6, 0.65],
  high: [0.4, 0.45],
}

const LOWEST_QUALITY = 25
/** The best quality that is tried: above it files grow and nobody sees why. */
export const HIGHEST_QUALITY = 95
/** The first one that is tried. */
const MIDDLE_QUALITY = 60

/** What one image may take in milliseconds, all its encodings together. */
export const PATIENCE_MS = 5000

/** Pixels for each byte of a file. Above, an image is almost empty: hardly a byte to gain, and much to decode. */
const MOST_PIXELS_PER_BYTE = 50
/** Fewer pixels are decoded in no time. */
const FEW_PIXELS = 2_000_000

/** What an image of `size` bytes should weigh at `level`. */
export function sizeTarget(size: number, level: OptimizationLevel): SizeTarget {
  if (level === 'high' && size > KIB * KIB) return { least: 400 * KIB, most: 700 * KIB }
  const [least, most] = SHARES[level]
  return { least: size * least, most: size * most }
}

/** Whether a file of `size` bytes holds so many pixels that decoding them costs more than is gained. */
export function isEmptyish(size: number, pixels: number): boolean {
  return pixels > FEW_PIXELS && pixels > size * MOST_PIXELS_PER_BYTE
}

/**
 * The encoding whose size meets `target`, found by bisection of the quality; else the best one that is not larger,
 * else the smallest that there is, of those that there is time for before `until` (of `performance.now()`).
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

/**
 * The same for a large image, which is encoded twice: the quality is searched on `sample`, a smaller copy, whose sizes
 * are to the image's as they are at one quality.
 */
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

/** Whether a size is nearer to what is wanted than another: the largest that fits, else the smallest. */
function isBetter(size: number, other: number, { most }: SizeTarget): boolean {
  if (size > most) return size < other
  return other > most || size > other
}

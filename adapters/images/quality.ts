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

const KIB = 1024

const SHARES: Readonly<Record<OptimizationLevel, readonly [least: number, most: number]>> = {
  low: [0.75, 0.8],
  medium: [0.6, 0.65],
  high: [0.4, 0.45],
}

const LOWEST_QUALITY = 25
/** The best quality that is tried: above it files grow and nobody sees why. */
export const HIGHEST_QUALITY = 95

/** What an image of `size` bytes should weigh at `level`. */
export function sizeTarget(size: number, level: OptimizationLevel): SizeTarget {
  if (level === 'high' && size > KIB * KIB) return { least: 400 * KIB, most: 700 * KIB }
  const [least, most] = SHARES[level]
  return { least: size * least, most: size * most }
}

/**
 * The encoding whose size meets `target`, found by bisection of the quality; else the best one that is not larger,
 * else the smallest that there is.
 */
export async function bisectQuality(
  encode: (quality: number) => Promise<Uint8Array>,
  target: SizeTarget,
): Promise<Uint8Array> {
  let low = LOWEST_QUALITY
  let high = HIGHEST_QUALITY
  for (let best: Uint8Array | undefined; ; ) {
    const quality = Math.floor((low + high) / 2)
    const bytes = await encode(quality)
    if (bytes.length > target.most) {
      high = quality - 1
      // Of those that are too large the last one is the smallest.
      if (!best || best.length > target.most) best = bytes
    } else {
      best = bytes
      if (bytes.length >= target.least) return best
      low = quality + 1
    }
    if (low > high) return best
  }
}

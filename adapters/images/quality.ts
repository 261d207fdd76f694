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

/** The search ends after this, with what it has found: large images take seconds for each step. */
const PATIENCE_MS = 20_000

/** What an image of `size` bytes should weigh at `level`. */
export function sizeTarget(size: number, level: OptimizationLevel): SizeTarget {
  if (level === 'high' && size > KIB * KIB) return { least: 400 * KIB, most: 700 * KIB }
  const [least, most] = SHARES[level]
  return { least: size * least, most: size * most }
}

/**
 * The encoding whose size meets `target`, found by bisection of the quality; else the best one that is not larger,
 * else the smallest that there is, of those that there was time for.
 */
export async function bisectQuality(
  encode: (quality: number) => Promise<Uint8Array>,
  target: SizeTarget,
): Promise<Uint8Array> {
  let low = LOWEST_QUALITY
  let high = HIGHEST_QUALITY
  let best: Uint8Array | undefined
  const until = performance.now() + PATIENCE_MS
  while (!best || (low <= high && performance.now() < until)) {
    const quality = Math.floor((low + high) / 2)
    const bytes = await encode(quality)
    const fits = bytes.length <= target.most
    if (fits && bytes.length >= target.least) return bytes
    // The last one that fits is the best, and the last one that is too large the smallest.
    if (fits || !best || best.length > target.most) best = bytes
    if (fits) low = quality + 1
    else high = quality - 1
  }
  return best
}

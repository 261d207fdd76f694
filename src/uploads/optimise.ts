/**
 * Makes images smaller before they are stored.
 *
 * @module
 */

import {
  type ImageOptimizer,
  type OptimizationLevel,
  type OptimizedType,
  TooManyPixels,
} from '../ports/images.ts'
import type { Logger } from '../ports/logger.ts'
import { LEVELS, type Upload } from './options.ts'
import { FairQueue } from './queue.ts'
import { imageTooLarge } from './refusals.ts'
import { bytesOf, type Source, strippedBytes } from './strip/stripped.ts'

const OPTIMISED: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp'])
const MAX_PIXELS = 50_000_000
/** The most time for one image, waiting included: its client waits too. */
const TIME_MS = 5000

/** Where a client may choose the level: the query, a body field, a header. The first that names a level wins. */
interface Choice {
  readonly query: unknown
  readonly field: unknown
  readonly header: unknown
}

/** The level for one request; undefined for none. */
export function levelOf(upload: Upload, choice: Choice): OptimizationLevel | undefined {
  if (!upload.allowClientImageOptions) return upload.imgOptimizations
  const chosen = [choice.query, choice.field, choice.header].find(isLevel)
  return chosen ?? upload.imgOptimizations
}

function isLevel(value: unknown): value is OptimizationLevel {
  return LEVELS.includes(value as OptimizationLevel)
}

/** An image to make smaller. */
export interface NewImage {
  readonly source: Source
  readonly mime: string
  readonly level: OptimizationLevel
  /** The client who sent it: clients take turns. */
  readonly client: unknown
}

/**
 * The bytes of a smaller image, or undefined if `source` is to be stored: another format, nothing gained, the encoder
 * failed, or no turn in time. Too many pixels are a 400: a decompression bomb relies on them being decoded.
 */
export async function optimised(
  { source, mime, level, client }: NewImage,
  images: ImageOptimizer,
  logger: Logger,
): Promise<Uint8Array | undefined> {
  if (!OPTIMISED.has(mime)) return undefined
  try {
    const smaller = await queueOf(images).run(client, TIME_MS, async (timeMs) => {
      const original = await bytesOf(source)
      return images.optimize(original, mime as OptimizedType, level, MAX_PIXELS, timeMs)
    })
    // Remove any metadata that the optimiser leaves in.
    const clean = await strippedBytes(smaller, mime)
    return clean.length < source.size ? clean : undefined
  } catch (error) {
    if (error instanceof TooManyPixels) throw imageTooLarge()
    logger.warn('an image could not be optimised; it was stored as it is', { error: String(error) })
    return undefined
  }
}

/** One queue per optimiser, even if several apps share it: the queue limits the memory that it uses. */
const queues = new WeakMap<ImageOptimizer, FairQueue>()

function queueOf(images: ImageOptimizer): FairQueue {
  const queue = queues.get(images) ?? new FairQueue()
  queues.set(images, queue)
  return queue
}

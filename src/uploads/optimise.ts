/**
 * Images made smaller before they are stored.
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
import type { ReceivedFile } from './receive.ts'
import { imageTooLarge } from './refusals.ts'

const OPTIMISED: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp'])
const MAX_PIXELS = 50_000_000

/** What a client may choose by: the query, a body field, a header, the first that names a level. */
interface Choice {
  readonly query: unknown
  readonly field: unknown
  readonly header: unknown
}

/** The level for one request. */
export function levelOf(upload: Upload, choice: Choice): OptimizationLevel | undefined {
  if (!upload.allowClientImageOptions) return upload.imgOptimizations
  const chosen = [choice.query, choice.field, choice.header].find(isLevel)
  return chosen ?? upload.imgOptimizations
}

function isLevel(value: unknown): value is OptimizationLevel {
  return LEVELS.includes(value as OptimizationLevel)
}

/**
 * The bytes of a smaller image, or undefined where the file is stored as it came: another format, nothing gained, an
 * encoder that failed. Too many pixels are a 400: decoding them is what a decompression bomb wants.
 */
export async function optimised(
  file: ReceivedFile,
  level: OptimizationLevel,
  images: ImageOptimizer,
  logger: Logger,
): Promise<Uint8Array | undefined> {
  const { mime } = file.type
  if (!OPTIMISED.has(mime)) return undefined
  const original = await file.held.bytes()
  try {
    const smaller = await images.optimize(original, mime as OptimizedType, level, MAX_PIXELS)
    return smaller.length < original.length ? smaller : undefined
  } catch (error) {
    if (error instanceof TooManyPixels) throw imageTooLarge()
    logger.warn('an image could not be optimised, stored as it came', { error: String(error) })
    return undefined
  }
}

/**
 * The image optimiser port.
 *
 * @module
 */

/** How strongly images are compressed. */
export type OptimizationLevel = 'low' | 'medium' | 'high'

/** The formats that are optimised. */
export type OptimizedType = 'image/jpeg' | 'image/png' | 'image/webp'

/** Makes images smaller without changing their format. */
export interface ImageOptimizer {
  /**
   * The image in the same format, smaller, upright and without metadata; or `bytes` as they came when nothing
   * smaller came out, the image moves, or optimising it would cost more than it could gain. Rejects with
   * `TooManyPixels` over `maxPixels`, before anything is decoded, and with any other error when the image cannot be
   * decoded. After `timeMs` milliseconds (default 5000) it ends with the best that it has, or rejects.
   */
  optimize(
    bytes: Uint8Array,
    contentType: OptimizedType,
    level: OptimizationLevel,
    maxPixels: number,
    timeMs?: number,
  ): Promise<Uint8Array>
}

/** An image has more pixels than may be decoded. */
export class TooManyPixels extends Error {
  override readonly name = 'TooManyPixels'
}

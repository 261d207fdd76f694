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
   * smaller came out or the image moves. Rejects with `TooManyPixels` over `maxPixels`, before anything is decoded,
   * and with any other error when the image cannot be decoded.
   */
  optimize(
    bytes: Uint8Array,
    contentType: OptimizedType,
    level: OptimizationLevel,
    maxPixels: number,
  ): Promise<Uint8Array>
}

/** An image has more pixels than may be decoded. */
export class TooManyPixels extends Error {
  override readonly name = 'TooManyPixels'
}

/** How strongly images are compressed. */
export type OptimizationLevel = 'low' | 'medium' | 'high'

/** The formats that can be optimised. */
export type OptimizedType = 'image/jpeg' | 'image/png' | 'image/webp'

/** Makes images smaller without changing their format. */
export interface ImageOptimizer {
  /**
   * The image in the same format, smaller, upright and without metadata. Returns `bytes` unchanged if the result is no
   * smaller, the image is animated, or optimising it would cost more than it could gain. Rejects with `TooManyPixels`
   * if it has over `maxPixels`, before anything is decoded, and with any other error if it cannot be decoded. After
   * `timeMs` milliseconds (default 5000) it returns the best result so far, or rejects.
   */
  optimize(
    bytes: Uint8Array,
    contentType: OptimizedType,
    level: OptimizationLevel,
    maxPixels: number,
    timeMs?: number,
  ): Promise<Uint8Array>
}

/** An image has more pixels than the limit for decoding. */
export class TooManyPixels extends Error {
  override readonly name = 'TooManyPixels'
}

/**
 * The image optimiser port.
 *
 * @module
 */

/** How strongly images are compressed. */
export type OptimizationLevel = 'low' | 'medium' | 'high'

/** Makes images smaller without changing their format. */
export interface ImageOptimizer {
  /**
   * The image in the same format, smaller, upright and without metadata; or `bytes` as they came when nothing
   * smaller came out. Rejects when the image cannot be decoded or is over `maxPixels`.
   */
  optimize(
    bytes: Uint8Array,
    contentType: 'image/jpeg' | 'image/png' | 'image/webp',
    level: OptimizationLevel,
    maxPixels: number,
  ): Promise<Uint8Array>
}

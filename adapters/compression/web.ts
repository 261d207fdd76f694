/**
 * Compression where there are Web standards alone, as on Workers.
 *
 * @module
 */

/** The content codings that there are, the preferred one first. */
export const codings: readonly string[] = ['gzip']

/** `body` in a coding of `codings`. */
export function compressed(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  coding: string,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return body.pipeThrough(new CompressionStream(coding as 'gzip'))
}

/** There are only streams. */
export const compressedAtOnce: undefined = undefined

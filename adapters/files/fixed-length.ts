/**
 * Streams whose length the Workers runtime must know before it sends them.
 *
 * @module
 */

type FixedLength = new (size: number) => TransformStream<Uint8Array, Uint8Array>

/** `body` with its length known to the runtime, where there is such a thing; it errors when the length is wrong. */
export function fixedLength<B extends ReadableStream<Uint8Array> | Uint8Array>(
  body: B,
  size: number,
): B | ReadableStream<Uint8Array> {
  const { FixedLengthStream: Fixed } = globalThis as { FixedLengthStream?: FixedLength }
  return body instanceof Uint8Array || !Fixed ? body : body.pipeThrough(new Fixed(size))
}

/** Streams of exactly the announced length, or they fail before they end. */

type Bytes = Uint8Array

/** `body`, which errors if it is not `size` bytes long or `signal` is aborted. */
export function exactly(
  body: ReadableStream<Bytes>,
  size: number,
  signal?: AbortSignal,
): ReadableStream<Bytes> {
  let length = 0
  let last: Bytes | undefined
  const counted = new TransformStream<Bytes, Bytes>({
    transform(chunk, controller) {
      signal?.throwIfAborted()
      length += chunk.length
      if (length > size) throw new Error(`a body of more than ${size} bytes`)
      // Held back until it is known to be the last: otherwise a server would have the whole object.
      if (last) controller.enqueue(last)
      last = chunk
    },
    flush(controller) {
      checkLength({ length }, size)
      if (last) controller.enqueue(last)
    },
  })
  return body.pipeThrough(counted)
}

export function checkLength({ length }: Pick<Bytes, 'length'>, size: number): void {
  if (length !== size) throw new Error(`a body of ${length} bytes, not ${size}`)
}

type FixedLength = new (size: number) => TransformStream<Bytes, Bytes>

/** The same in the form in which the Workers runtime sends a length with a stream. */
export function fixedLength(
  body: ReadableStream<Bytes> | Bytes,
  size: number,
  signal?: AbortSignal,
): ReadableStream<Bytes> | Bytes {
  if (body instanceof Uint8Array) {
    checkLength(body, size)
    return body
  }
  const { FixedLengthStream: Fixed } = globalThis as { FixedLengthStream?: FixedLength }
  const exact = exactly(body, size, signal)
  return Fixed ? exact.pipeThrough(new Fixed(size)) : exact
}

/** The bytes of `chunks`, one after the other. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** A stream of `blocks`. Nothing is read before the first pull. */
export function streamOf(
  blocks: Iterator<Uint8Array, void> | AsyncIterator<Uint8Array, void>,
): ReadableStream<Uint8Array> {
  const pulled: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await blocks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await blocks.return?.()
    },
  }
  return new ReadableStream(pulled, { highWaterMark: 0 })
}

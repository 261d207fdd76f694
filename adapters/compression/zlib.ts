/**
 * Compression on Node, Deno and Bun: node:zlib, which gives out what it has after every piece.
 *
 * @module
 */

import * as zlib from 'node:zlib'

type Bytes = Uint8Array<ArrayBuffer>

/** Zstandard is new in Node 22.15; brotli's own default is for files that are compressed once. */
const encoders: Readonly<Record<string, (() => zlib.Gzip | zlib.BrotliCompress) | undefined>> = {
  zstd: zlib.createZstdCompress
    ? () => zlib.createZstdCompress({ flush: zlib.constants.ZSTD_e_flush })
    : undefined,
  br: () =>
    zlib.createBrotliCompress({
      flush: zlib.constants.BROTLI_OPERATION_FLUSH,
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 },
    }),
  gzip: () => zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
}

/** The content codings that there are, the preferred one first. */
export const codings: readonly string[] = Object.keys(encoders).filter((name) => encoders[name])

/** `body` in a coding of `codings`. */
export function compressed(body: ReadableStream<Bytes>, coding: string): ReadableStream<Bytes> {
  const encoder = encoders[coding]?.()
  if (!encoder) throw new TypeError(`no content coding '${coding}'`)
  const reader = body.getReader()
  return new ReadableStream<Bytes>(
    {
      start(controller) {
        encoder.on('data', (part: Bytes) => controller.enqueue(part))
        encoder.on('end', () => controller.close())
        encoder.on('error', (error) => controller.error(error))
      },
      async pull() {
        let next = await reader.read()
        // Nothing comes out for an empty piece, and then nobody would ask again.
        while (!next.done && next.value.length === 0) next = await reader.read()
        const { done, value } = next
        await new Promise<void>((resolve) => {
          if (done) encoder.end(() => resolve())
          else encoder.write(value, () => resolve())
        })
      },
      cancel(reason) {
        encoder.destroy()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

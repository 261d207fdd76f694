/**
 * Compression on Node, Deno and Bun: node:zlib, which gives out what it has after every piece.
 *
 * @module
 */

import * as zlib from 'node:zlib'

type Bytes = Uint8Array<ArrayBuffer>

interface Encoder {
  stream(): zlib.Gzip | zlib.BrotliCompress
  atOnce(bytes: Bytes): Bytes
}

/** Brotli's own default is for files that are compressed once. */
const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 }

/** Zstandard is new in Node 22.15. */
const encoders: Readonly<Record<string, Encoder | undefined>> = {
  zstd: zlib.createZstdCompress && {
    stream: () => zlib.createZstdCompress({ flush: zlib.constants.ZSTD_e_flush }),
    atOnce: (bytes) => zlib.zstdCompressSync(bytes),
  },
  br: {
    stream: () =>
      zlib.createBrotliCompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH, params }),
    atOnce: (bytes) => zlib.brotliCompressSync(bytes, { params }),
  },
  gzip: {
    stream: () => zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH }),
    atOnce: (bytes) => zlib.gzipSync(bytes),
  },
}

/** The content codings that there are, the preferred one first. */
export const codings: readonly string[] = Object.keys(encoders).filter((name) => encoders[name])

function encoderOf(coding: string): Encoder {
  const encoder = encoders[coding]
  if (!encoder) throw new TypeError(`no content coding '${coding}'`)
  return encoder
}

/** `bytes` in a coding of `codings`. A stream of them takes twice as long and more. */
export function compressedAtOnce(bytes: Bytes, coding: string): Bytes {
  return encoderOf(coding).atOnce(bytes)
}

/** `body` in a coding of `codings`. */
export function compressed(body: ReadableStream<Bytes>, coding: string): ReadableStream<Bytes> {
  const encoder = encoderOf(coding).stream()
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

/**
 * Image optimisation in WebAssembly, on Workers.
 *
 * @module
 */

import jpegDecoder from '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'
import jpegEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'
import oxipng from '@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm'
import webpDecoder from '@jsquash/webp/codec/dec/webp_dec.wasm'
import webpEncoder from '@jsquash/webp/codec/enc/webp_enc_simd.wasm'
import type { ImageOptimizer } from '../../src/ports/services/images.ts'
import { optimizerWith, type WasmOptions } from './codecs.ts'

export type { WasmOptions } from './codecs.ts'

/** Each pixel needs about 20 bytes, and a Worker has 128 MB for everything. */
const MAX_PIXELS = 4_000_000

/** Optimises with jSquash, with the same behaviour as on the other runtimes. */
export function wasmImages(options: WasmOptions = {}): ImageOptimizer {
  const modules = { jpegDecoder, jpegEncoder, webpDecoder, webpEncoder, oxipng }
  return optimizerWith(async () => modules, options, MAX_PIXELS)
}

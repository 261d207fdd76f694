/**
 * Image optimisation in WebAssembly, where sharp cannot be installed.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createRequire as requireFrom } from 'node:module'
import type { ImageOptimizer } from '../../src/ports/services/images.ts'
import { optimizerWith, type WasmOptions } from './codecs.ts'

export type { WasmOptions } from './codecs.ts'

/** Encoding this many takes about two seconds. */
const MAX_PIXELS = 16_000_000

/** Optimises with jSquash. Slower than sharp, and PNG images are only compressed without loss. */
export function wasmImages(options: WasmOptions = {}): ImageOptimizer {
  const load = async () => ({
    jpegDecoder: await compiled('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'),
    jpegEncoder: await compiled('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'),
    webpDecoder: await compiled('@jsquash/webp/codec/dec/webp_dec.wasm'),
    webpEncoder: await compiled('@jsquash/webp/codec/enc/webp_enc_simd.wasm'),
    oxipng: await compiled('@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm'),
  })
  return optimizerWith(load, options, MAX_PIXELS)
}

async function compiled(file: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(requireFrom(import.meta.url).resolve(file)))
}

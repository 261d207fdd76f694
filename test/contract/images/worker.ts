/**
 * Optimisation inside workerd: a request's body is the image, its headers say the rest, the answer is what came of it.
 *
 * @module
 */

import { wasmImages } from '../../../adapters/images/wasm-workerd.ts'
import type { OptimizationLevel, OptimizedType } from '../../../src/index.ts'

const images = wasmImages()

export default {
  async fetch(request: Request): Promise<Response> {
    const type = request.headers.get('content-type') as OptimizedType
    const level = request.headers.get('x-level') as OptimizationLevel
    const bytes = new Uint8Array(await request.arrayBuffer())
    try {
      const made = await images.optimize(bytes, type, level, 50_000_000, 60_000)
      return new Response(made as Uint8Array<ArrayBuffer>)
    } catch (error) {
      return new Response(String(error), { status: 500 })
    }
  },
}

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { optimizerWith } from '../../../adapters/images/codecs.ts'
import { sharpImages } from '../../../adapters/images/sharp.ts'
import { wasmImages } from '../../../adapters/images/wasm.ts'
import { imageContract, verify } from '../../../extras/contract/index.ts'
import { cat } from './photos.ts'

verify('sharp', imageContract, { open: sharpImages }, { describe, it })
verify(
  'WebAssembly',
  imageContract,
  {
    open: wasmImages,
    without: {
      'a PNG image that has become smaller has no metadata':
        'its codec keeps them; uploads lose what an optimiser leaves in',
    },
  },
  { describe, it },
)

it('WebAssembly is loaded for the next image where it could not be for the one before', async () => {
  const { resolve } = createRequire(import.meta.url)
  const compiled = async (file: string) => WebAssembly.compile(await readFile(resolve(file)))
  let tries = 0
  const images = optimizerWith(
    async () => {
      tries += 1
      if (tries === 1) throw new Error('EMFILE: too many open files')
      return {
        jpegDecoder: await compiled('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'),
        jpegEncoder: await compiled('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'),
        webpDecoder: await compiled('@jsquash/webp/codec/dec/webp_dec.wasm'),
        webpEncoder: await compiled('@jsquash/webp/codec/enc/webp_enc_simd.wasm'),
        oxipng: await compiled('@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm'),
      }
    },
    {},
    50_000_000,
  )
  const made = () => images.optimize(cat.bytes, 'image/jpeg', 'low', 50_000_000)
  await expect(made()).rejects.toThrow('EMFILE')
  expect((await made()).length).toBeLessThan(cat.bytes.length)
})

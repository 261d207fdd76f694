import * as files from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { sharpImages } from '../../../adapters/images/sharp.ts'
import { wasmImages } from '../../../adapters/images/wasm.ts'
import { imageContract, verify } from '../../../extras/contract/index.ts'
import { cat } from './photos.ts'

vi.mock('node:fs/promises', { spy: true })

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
  const images = wasmImages()
  vi.mocked(files.readFile).mockRejectedValueOnce(new Error('EMFILE: too many open files'))
  const made = () => images.optimize(cat.bytes, 'image/jpeg', 'low', 50_000_000)
  await expect(made()).rejects.toThrow('EMFILE')
  expect((await made()).length).toBeLessThan(cat.bytes.length)
})

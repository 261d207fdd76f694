import { describe, it } from 'vitest'
import { sharpImages } from '../../../adapters/images/sharp.ts'
import { wasmImages } from '../../../adapters/images/wasm.ts'
import { imageContract, verify } from '../../../extras/contract/index.ts'

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

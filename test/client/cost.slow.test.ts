import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { cost } from './cost.ts'

it('100 models that a client calls add less than 100,000 instantiations to the compiler', async () => {
  const without = await cost('without')
  const used = await cost('with')
  const more = used.instantiations - without.instantiations
  // The time is shown only: on a busy machine it says little.
  const seconds = (used.seconds - without.seconds).toFixed(1)
  console.log(`100 models through a client: ${more} instantiations and ${seconds} s more`)
  expect(more).toBeLessThan(100_000)
})

it('the client is at most 5 KiB gzipped, and brings no package along', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, '../../src/client/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    metafile: true,
  })
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  console.log(`the client: ${size} bytes gzipped`)
  expect(size).toBeLessThanOrEqual(5 * 1024)
  expect(Object.keys(metafile.inputs).filter((file) => !file.startsWith('src/client/'))).toEqual([])
})

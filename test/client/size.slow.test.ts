import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

it('the client is at most 5.3 KiB gzipped, and brings no package along', async () => {
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
  expect(size).toBeLessThanOrEqual(5.3 * 1024)
  expect(Object.keys(metafile.inputs).filter((file) => !file.startsWith('src/client/'))).toEqual([])
})

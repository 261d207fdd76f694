import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const ENTRY = 'src/client/index.ts'

it('the client is at most 5 KiB gzipped, and brings no package along', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, '../..', ENTRY)],
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: true,
    outdir: 'out',
    write: false,
    metafile: true,
  })
  // What is loaded when it is used does not count.
  const first = Object.entries(metafile.outputs).filter(
    ([, { entryPoint }]) => entryPoint === ENTRY,
  )
  const loaded = new Set(
    first.flatMap(([path, { imports }]) => [
      path,
      ...imports.filter(({ kind }) => kind === 'import-statement').map((one) => one.path),
    ]),
  )
  const size = outputFiles
    .filter(({ path }) => [...loaded].some((one) => path.endsWith(one)))
    .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
  console.log(`the client: ${size} bytes gzipped`)
  expect(size).toBeLessThanOrEqual(5 * 1024)
  const inputs = [...loaded].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}))
  expect(inputs.length).toBeGreaterThan(5)
  expect(inputs.filter((file) => !file.startsWith('src/client/'))).toEqual([])
})

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

it('the client is ES2022, and names nothing newer', async () => {
  const written = async (target: string) => {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, '../..', ENTRY)],
      bundle: true,
      format: 'esm',
      outdir: 'out',
      write: false,
      packages: 'external',
      target,
    })
    return outputFiles.map(({ text }) => text).join('\n')
  }
  const code = await written('es2022')
  expect(code).toBe(await written('esnext'))
  const newer =
    /\.(?:findLast(?:Index)?|to(?:Reversed|Sorted|Spliced)|with|isWellFormed|throwIfAborted)\(|\b(?:structuredClone|withResolvers|groupBy|fromAsync|AbortSignal\.(?:any|timeout\())/
  expect(newer.exec(code)?.[0]).toBeUndefined()
})

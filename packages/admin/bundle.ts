/**
 * The admin page as files: scripts in chunks that are loaded when they are needed, and one style.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Files } from './src/files.ts'

const ENTRY = 'packages/admin/src/page/main.tsx'
const root = join(import.meta.dirname, '../..')

/** The page, bundled. */
export async function bundled(): Promise<Files> {
  return (await bundle()).files
}

/** The page, and the folders of the packages that are in it. */
export async function bundle(): Promise<{ files: Files; packages: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [ENTRY],
    outdir: 'packages/admin/dist',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    conditions: ['fieldgate-source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: 'automatic',
    format: 'esm',
    target: 'es2022',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    // They are in a file of their own.
    legalComments: 'none',
    logLevel: 'warning',
  })
  const names = Object.entries(metafile.outputs)
  const entry = names.find(([, { entryPoint }]) => entryPoint === ENTRY)
  const assets = outputFiles.map(({ path, contents }): [string, string] => [
    basename(path),
    gzipSync(contents, { level: 9 }).toString('base64'),
  ])
  const version = createHash('sha256').update(JSON.stringify(assets)).digest('hex').slice(0, 12)
  const files = {
    assets: Object.fromEntries(assets),
    script: basename(entry?.[0] ?? ''),
    style: basename(entry?.[1].cssBundle ?? ''),
    version,
  }
  const inputs = Object.keys(metafile.inputs)
  const found = inputs.flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])
  return { files, packages: [...new Set(found)].toSorted().map((name) => join(root, name)) }
}

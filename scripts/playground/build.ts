/**
 * The playground, a folder of static files: an app that runs in the browser of whoever opens it.
 *
 * @module
 */

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))
const from = fileURLToPath(new URL('./', import.meta.url))

/** Writes the playground into the folder `outdir`. */
export async function buildPlayground(outdir: string): Promise<void> {
  const options: BuildOptions = {
    ...{ absWorkingDir: root, outdir, bundle: true, minify: true, target: 'es2024' },
    ...{ platform: 'browser', conditions: ['fieldgate-source', 'browser'], logLevel: 'error' },
    chunkNames: 'chunks/[hash]',
  }
  await build({
    ...options,
    ...{ format: 'esm', splitting: true },
    entryPoints: {
      fieldgate: 'src/index.ts',
      guards: 'src/guards/index.ts',
      openapi: 'src/openapi/index.ts',
      zod: 'zod',
      'memory-store': 'examples/memory-store/store.ts',
      worker: `${from}worker.ts`,
      page: `${from}page.ts`,
    },
  })
  await build({
    ...options,
    format: 'iife',
    entryPoints: { 'service-worker': `${from}service-worker.ts` },
  })
  const sample = readFileSync(`${from}sample.ts`, 'utf8')
  const code = sample.replace('../../examples/memory-store/store.ts', './memory-store.ts')
  const page = readFileSync(`${from}page.html`, 'utf8')
  const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  writeFileSync(
    `${outdir}/index.html`,
    page.replace('%CODE%', () => escaped),
  )
  const scalar = 'node_modules/@scalar/api-reference/dist/browser/standalone.js'
  copyFileSync(root + scalar, `${outdir}/scalar.js`)
}

import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../docs/pages.ts'

/** The bytes of a Worker that imports `more` and gives it to an app, minified and gzipped. */
async function bytesOf(more = '', given = ''): Promise<number> {
  const contents = `
    import { createApp, createRouter, defineModel } from './src/index.ts'
    import { d1Store } from './adapters/stores/sqlite/calls/d1.ts'
    ${more}
    export const made = (db) => [createApp({ store: d1Store(db) }), createRouter, defineModel, ${given}]`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['fieldgate-source', 'workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    logLevel: 'error',
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

let bare = 0
beforeAll(async () => {
  bare = await bytesOf()
})

it.each([
  ['health', './src/health/index.ts', 1],
  ['metrics', './src/health/index.ts', 2],
  ['telemetry', './adapters/telemetry/opentelemetry.ts', 9],
])('%s() adds less to a Worker than operations.md says', async (name, path, kib) => {
  const size = await bytesOf(`import { ${name} } from '${path}'`, name)
  expect(size - bare).toBeGreaterThan(0)
  expect(size - bare).toBeLessThan(kib * 1024)
})

import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const LIMIT = 4 * 1024
/** What they share with `fieldgate/openapi` and `fieldgate/audit`. */
const SHARED = `export * from './src/records/setup/serving.ts'
export { globalRegistry } from 'zod/v4/core'`
const TOOLS = `export { mcp } from './src/mcp/index.ts'`

async function gzipped(contents: string): Promise<number> {
  const resolveDir = fileURLToPath(new URL('../../', import.meta.url))
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'ts' },
    ...{ bundle: true, write: false, minify: true, format: 'esm', target: 'es2024' },
    conditions: ['fieldgate-source', 'workerd', 'worker', 'browser'],
    ...{ external: ['node:*', 'cloudflare:*'], logLevel: 'error' },
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

it.each([
  ['an app on D1 with accounts', `export { default } from './test/package/bundles/mini.ts'`],
  ['an app with all of the core', `export * from './src/index.ts'`],
])(`%s grows by at most ${LIMIT} bytes gzipped with the tools for agents`, async (_, app) => {
  const without = `${app}\n${SHARED}`
  const grown = (await gzipped(`${without}\n${TOOLS}`)) - (await gzipped(without))
  console.log(`gzipped: ${grown} bytes`)
  expect(grown).toBeGreaterThan(0)
  expect(grown).toBeLessThanOrEqual(LIMIT)
})

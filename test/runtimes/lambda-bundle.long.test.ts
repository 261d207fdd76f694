import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { textOf } from '../docs/pages.ts'

const at = (path: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../${path}`, import.meta.url)))
const ENTRY = `
import { lambda } from ${at('adapters/runtimes/lambda.ts')}
import { mongoStore } from ${at('adapters/stores/mongodb/index.ts')}
import { sqliteStore } from ${at('adapters/stores/sqlite/node.ts')}
import { createApp } from ${at('src/index.ts')}
import { openapi } from ${at('src/openapi/index.ts')}
export const stores = [mongoStore]
const app = createApp({ store: sqliteStore() })
export const handler = lambda(app.mount('/api', openapi({ title: 'Bundled', version: '1' })))
`
const [, OWN = ''] = /--banner:js="(.*?)"/.exec(textOf('docs/deploy-lambda.md')) ?? []
// As it stands in the guides of AWS.
const AWS = `import { createRequire } from 'module'; const require = createRequire(import.meta.url);`

it.each([
  ['a CommonJS module', 'cjs', ''],
  ["an ES module with the page's banner", 'esm', OWN],
  ['an ES module with the usual banner', 'esm', AWS],
] as const)('a function is bundled as %s', async (_, format, js) => {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-lambda-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const outfile = join(folder, format === 'cjs' ? 'lambda.cjs' : 'lambda.mjs')
  expect(format === 'cjs' || js.includes('require')).toBe(true)
  await build({
    stdin: {
      contents: ENTRY,
      loader: 'ts',
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    ...{ bundle: true, platform: 'node', target: 'node22', format, outfile, banner: { js } },
    conditions: ['fieldgate-source'],
    logLevel: 'silent',
  })
  const { handler } = await import(/* @vite-ignore */ pathToFileURL(outfile).href)
  const http = { method: 'GET' }
  const event = {
    rawPath: '/api/openapi.json',
    rawQueryString: '',
    headers: {},
    requestContext: { http },
  }
  const { statusCode, body } = await handler({ ...event, isBase64Encoded: false })
  expect([statusCode, JSON.parse(body).info.title]).toEqual([200, 'Bundled'])
})

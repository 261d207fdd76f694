import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const LIMIT = 4 * 1024

/** The size of an app's bundle; it has all that mcp imports from elsewhere, so that the difference is mcp's own code. */
async function gzipped(more: string): Promise<number> {
  const imports = globSync('src/mcp/*.ts', { cwd: root }).flatMap((file) => [
    ...readFileSync(`${root}${file}`, 'utf8').matchAll(
      /import (?!type)\{([^}]*)\} from '([^']+)'/g,
    ),
  ])
  const shared = imports
    .filter(([, , path = '']) => !path.startsWith('./'))
    .map(([, names, path = '']) => `export {${names}} from '${path.replace('../', './src/')}'`)
  const lines = [...new Set(shared.flatMap(perName)), more]
  const { outputFiles } = await build({
    stdin: { contents: lines.join('\n'), resolveDir: root, loader: 'ts' },
    ...{ bundle: true, write: false, minify: true, format: 'esm', target: 'es2024' },
    conditions: ['fieldgate-source', 'workerd', 'worker', 'browser'],
    ...{ external: ['node:*', 'cloudflare:*'], logLevel: 'error' },
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

function perName(line: string): string[] {
  const [, names = '', path] = /\{([^}]*)\} from (.+)/.exec(line) ?? []
  const values = names.split(',').map((name) => name.trim())
  return values
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => `export { ${name} } from ${path}`)
}

it(`the tools for agents add at most ${LIMIT / 1024} KiB gzipped to an app`, async () => {
  const app = `export * from './src/index.ts'`
  const own =
    (await gzipped(`${app}\nexport { mcp } from './src/mcp/index.ts'`)) - (await gzipped(app))
  console.log(`gzipped: ${own} bytes`)
  expect(own).toBeGreaterThan(0)
  expect(own).toBeLessThanOrEqual(LIMIT)
})

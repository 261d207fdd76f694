/**
 * Builds what is published of `fieldgate-admin` into `dist`: the page's files in a module, what serves them, and types.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundled } from './bundle.ts'

const here = import.meta.dirname
const dist = join(here, 'dist')

/** What the sources import of `fieldgate`, by the path here. */
const FIELDGATE = {
  '../../../src/index.ts': 'fieldgate',
  '../../../src/openapi/index.ts': 'fieldgate/openapi',
}

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
writeFileSync(
  join(dist, 'files.js'),
  `const made = ${JSON.stringify(await bundled(), null, 1)}\nexport const files = async () => made\n`,
)
await build({
  entryPoints: [join(here, 'src/index.ts')],
  outfile: join(dist, 'index.js'),
  bundle: true,
  format: 'esm',
  target: 'es2024',
  external: ['#files'],
  plugins: [
    {
      name: 'fieldgate',
      setup: ({ onResolve }) =>
        onResolve({ filter: /^\.\.\/\.\.\/\.\.\/src\// }, ({ path }) => ({
          path: FIELDGATE[path as keyof typeof FIELDGATE],
          external: true,
        })),
    },
  ],
})
declare()

/** Writes the types, which name `fieldgate` where the sources name its files. */
function declare(): void {
  const types = join(here, '../../.cache/admin-types')
  const tsc = join(here, '../../node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', here, '--outDir', types])
  for (const name of ['index', 'options']) {
    let text = readFileSync(join(types, `packages/admin/src/${name}.d.ts`), 'utf8')
    for (const [path, published] of Object.entries(FIELDGATE)) {
      text = text.replaceAll(`'${path}'`, `'${published}'`)
    }
    writeFileSync(join(dist, `${name}.d.ts`), text.replaceAll(".ts'", ".js'"))
  }
}

/**
 * Builds what is published of `fieldgate-admin` into `dist`: the page's files in a module, what serves them, and types.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundle } from './bundle.ts'

const here = import.meta.dirname
const dist = join(here, 'dist')

/** What the sources import of `fieldgate`, by the path here. */
const FIELDGATE = {
  '../../../src/index.ts': 'fieldgate',
  '../../../src/openapi/index.ts': 'fieldgate/openapi',
}

mkdirSync(dist, { recursive: true })
const { files, packages } = await bundle()
writeFileSync(
  join(dist, 'files.js'),
  `const made = ${JSON.stringify(files, null, 1)}\nexport const files = async () => made\n`,
)
writeFileSync(join(dist, 'licenses.txt'), packages.map(licenseOf).join('\n'))
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

/** What a package in the page says of its license. */
function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license})\n\n${text}`
}

/** Writes the types, which name `fieldgate` where the sources name its files. */
function declare(): void {
  const types = join(here, '../../.cache/admin-types')
  const tsc = join(here, '../../node_modules/.bin/tsc')
  execFileSync(tsc, ['-p', here, '--singleThreaded', '--outDir', types])
  for (const name of ['index', 'options']) {
    let text = readFileSync(join(types, `packages/admin/src/${name}.d.ts`), 'utf8')
    for (const [path, published] of Object.entries(FIELDGATE)) {
      text = text.replaceAll(`'${path}'`, `'${published}'`)
    }
    writeFileSync(join(dist, `${name}.d.ts`), text.replaceAll(".ts'", ".js'"))
  }
}

/**
 * `npm run sizes`: writes the table of sizes in README.md, from the package that was built. What a bundle has of an entry is
 * minified and gzipped, with the dependencies that npm installs, and without zod and the optional packages.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Entries for tests, tools and programs of a repository, which no bundle has. */
const APART = new Set(['./package.json', './contract', './audit', './mongoose', './legacy'])

/** The part of the README that is made here. */
export const TABLE: RegExp = /(?<=<!-- sizes -->\n)[\s\S]*?(?=\n<!-- \/sizes -->)/

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Gzipped bytes of each entry of the package in `folder`: alone, and beside `fieldgate`. */
export async function sizes(folder: string): Promise<Map<string, { alone: number; more: number }>> {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const { exports, peerDependencies } = JSON.parse(text) as Manifest
  const external = [...Object.keys(peerDependencies), 'node:*', 'cloudflare:*', 'bun', 'bun:*']
  const names = Object.keys(exports)
    .filter((path) => !APART.has(path))
    .map((path) => `fieldgate${path.slice(1)}`)
  // In one build, which reads each module once for all bundles.
  const sets = [...names.map((name) => [name]), ...names.map((name) => ['fieldgate', name])]
  const { outputFiles } = await build({
    entryPoints: sets.map((_, at) => ({ in: `set:${at}`, out: `${at}` })),
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external,
    logLevel: 'error',
    plugins: [exporting(sets, folder)],
  })
  const bytes = new Map(
    outputFiles.map(({ path, contents }) => [
      basename(path, '.js'),
      gzipSync(contents, { level: 9 }).length,
    ]),
  )
  const bytesOf = (at: number) => bytes.get(`${at}`) ?? 0
  const core = bytesOf(names.indexOf('fieldgate'))
  return new Map(
    names.map((name, at) => {
      const more = name === 'fieldgate' ? core : bytesOf(names.length + at) - core
      return [name, { alone: bytesOf(at), more }]
    }),
  )
}

/** Entry points `set:0`, `set:1`: modules that give all that packages give. */
function exporting(sets: readonly (readonly string[])[], resolveDir: string): Plugin {
  return {
    name: 'sets',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^set:/ }, ({ path }) => ({ path: path.slice(4), namespace: 'set' }))
      onLoad({ filter: /.*/, namespace: 'set' }, ({ path }) => {
        const names = sets[Number(path)] ?? []
        const contents = names.map((name, at) => `export * as x${at} from '${name}'`).join('\n')
        return { contents, resolveDir }
      })
    },
  }
}

const kib = (bytes: number) => (Math.max(0, bytes) / 1024).toFixed(1)

/** The table, in Markdown. */
export function tableOf(found: Awaited<ReturnType<typeof sizes>>): string {
  const rows = [...found].map(
    ([name, { alone, more }]) => `| \`${name}\` | ${kib(alone)} | ${kib(more)} |`,
  )
  return ['| import | alone | beside `fieldgate` |', '|---|---|---|', ...rows].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const readme = join(root, 'README.md')
  const table = tableOf(await sizes(root))
  writeFileSync(readme, readFileSync(readme, 'utf8').replace(TABLE, table))
}

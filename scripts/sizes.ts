/**
 * `npm run sizes`: writes the table of sizes in README.md, from the package that was built. What a bundle has of an entry is
 * minified and gzipped, with the dependencies that npm installs, and without zod and the optional packages.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

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
  const bytesOf = async (...names: readonly string[]) => {
    const contents = names.map((name) => `export * as x${names.indexOf(name)} from '${name}'`)
    const { outputFiles } = await build({
      stdin: { contents: contents.join('\n'), resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'node',
      external,
      logLevel: 'error',
    })
    return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  }
  const found = new Map<string, { alone: number; more: number }>()
  const core = await bytesOf('fieldgate')
  for (const path of Object.keys(exports).filter((one) => !APART.has(one))) {
    const name = `fieldgate${path.slice(1)}`
    const alone = path === '.' ? core : await bytesOf(name)
    found.set(name, {
      alone,
      more: path === '.' ? core : (await bytesOf('fieldgate', name)) - core,
    })
  }
  return found
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

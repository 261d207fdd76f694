/**
 * Programs of tests that are started again and again: in one file with all that they import of the sources, Node starts them
 * in half the time.
 *
 * @module
 */

import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const root = new URL('../../', import.meta.url)
const folder = fileURLToPath(new URL(`.cache/programs/${process.pid}-${Date.now()}/`, root))
const made = new Map<string, string>()

/** The file for `node` that does what the module `program` does, made at the first call; it needs no condition. */
export function programOf(program: URL): string {
  const known = made.get(program.href)
  if (known !== undefined) return known
  if (made.size === 0) begin()
  const file = join(folder, `${made.size}-${basename(program.pathname, '.ts')}.js`)
  write(program, file)
  made.set(program.href, file)
  return file
}

function begin(): void {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // The threads of SQLite load it from beside the program.
  write(new URL('adapters/stores/sqlite/reader.ts', root), join(folder, 'reader.js'))
}

function write(source: URL, outfile: string): void {
  buildSync({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    conditions: ['fieldgate-source', 'node'],
    logLevel: 'warning',
  })
}

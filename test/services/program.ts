/**
 * Programs of tests that are started again and again: in one file with all that they import of the sources, Node starts them
 * in half the time.
 *
 * @module
 */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { isRunning } from './memory.ts'

const root = new URL('../../', import.meta.url)
const folders = fileURLToPath(new URL('.cache/programs/', root))
const folder = join(folders, `${process.pid}-${Date.now()}`)
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
  // Those of test files that have ended: vitest leaves them no time for it.
  const left = existsSync(folders)
    ? readdirSync(folders).filter((name) => !isRunning(Number.parseInt(name, 10)))
    : []
  for (const name of left) rmSync(join(folders, name), { recursive: true, force: true })
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

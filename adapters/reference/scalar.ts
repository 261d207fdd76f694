/**
 * The script of the reference page, from the package `@scalar/api-reference`, for runtimes that can read it.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createRequire as requireFrom } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ReferenceScript } from '../../src/ports/services/reference-script.ts'
import { startedOnce } from '../../src/ports/values/once.ts'

/** The script; undefined if the package is not installed. */
export async function referenceScript(): Promise<ReferenceScript | undefined> {
  const folder = folderOfPackage()
  if (folder === undefined) return undefined
  const { version } = JSON.parse(await readFile(join(folder, '../package.json'), 'utf8')) as {
    readonly version: string
  }
  const read = () => readFile(join(folder, 'browser/standalone.js'))
  return { version, read, gzipped: startedOnce(() => read().then(promisify(gzip))) }
}

/** The folder of what the package exports; it does not export the script itself. */
function folderOfPackage(): string | undefined {
  try {
    // A bundle in CommonJS has no address of its own.
    const require = requireFrom(import.meta.url)
    return dirname(require.resolve('@scalar/api-reference'))
  } catch {
    return undefined
  }
}

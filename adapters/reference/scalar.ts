/**
 * The script of the reference page, from the package `@scalar/api-reference`, for runtimes that can read it.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
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

/**
 * The folder of what the package exports; it does not export the script itself. A bundle may be elsewhere, or have no
 * address of its own: then it is looked for where the program has been started. `node:module` is not imported, because
 * Next.js understands that, and puts all of the package into what it builds.
 */
function folderOfPackage(): string | undefined {
  for (const base of [() => import.meta.url, () => join(process.cwd(), 'any.js')]) {
    try {
      const { createRequire } = process.getBuiltinModule('node:module')
      return dirname(createRequire(base()).resolve('@scalar/api-reference'))
    } catch {
      // It is not there.
    }
  }
  return undefined
}

/**
 * What npm packs of a folder.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Packs the folder `source` as npm would publish it, in `folder`; resolves to the tarball's path. */
export async function packed(folder: string, source: string): Promise<string> {
  const options = ['--silent', '--ignore-scripts']
  const { stdout } = await promisify(execFile)('npm', ['pack', source, ...options], { cwd: folder })
  return join(folder, stdout.trim())
}

/**
 * Packages that only one test folder needs: installed into `.cache/` on first use, by the folder's own lockfile.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')

/** Installs what `folder/package-lock.json` names and resolves to where it is. A lockfile that was installed stays as it is. */
export async function install(folder: string): Promise<string> {
  const installed = join(root, '.cache', basename(folder))
  await mkdir(installed, { recursive: true })
  for (const name of ['package.json', 'package-lock.json'])
    await copyFile(join(folder, name), join(installed, name))
  const mark = join(installed, 'installed')
  const wanted = await readFile(join(folder, 'package-lock.json'), 'utf8')
  if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return installed
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], { cwd: installed })
  await writeFile(mark, wanted)
  return installed
}

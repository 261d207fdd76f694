/**
 * Packages that one folder of tests needs, installed on first use by the lockfile of that folder.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
// As deep as a test's folder, so that a program finds the sources from both.
const cache = join(import.meta.dirname, '../../.cache')

/** The folder that has the packages of the test folder `from` in its `node_modules`. The first call may take a minute. */
export async function installation(from: string): Promise<string> {
  const lock = await readFile(join(from, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const folder = join(cache, `${basename(from)}-${hash}`)
  if (existsSync(folder)) return folder
  // Several test files may begin at once: the first installation that is complete stays.
  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(join(cache, `${basename(from)}-`))
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(join(from, name), join(own, name))
  }
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: own,
  })
  await rename(own, folder).catch(() => rm(own, { recursive: true }))
  return folder
}

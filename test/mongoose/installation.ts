/**
 * The real Mongoose, versions 8 and 9, installed on first use by the lockfile of this folder.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '../../.cache')

/** The packages, as package.json names them. */
export const VERSIONS = ['mongoose8', 'mongoose9'] as const
/** One of the packages. */
export type Version = (typeof VERSIONS)[number]

/**
 * The module of a version, as `require` gives it. Its own types are not installed here: say which part of it a test uses.
 * The first call may take a minute.
 */
export async function mongoose<M>(version: Version): Promise<M> {
  return createRequire(join(await installation(), 'package.json'))(version)
}

/** The folder that has the packages in its `node_modules`. */
export async function installation(): Promise<string> {
  const lock = await readFile(join(import.meta.dirname, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const folder = join(cache, `mongoose-${hash}`)
  if (existsSync(folder)) return folder
  // Several test files may begin at once: the first installation that is complete stays.
  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(join(cache, 'mongoose-'))
  for (const name of ['package.json', 'package-lock.json']) {
    await copyFile(join(import.meta.dirname, name), join(own, name))
  }
  await run('npm', ['ci', '--ignore-scripts'], { cwd: own })
  await rename(own, folder).catch(() => rm(own, { recursive: true }))
  return folder
}

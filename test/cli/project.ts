/**
 * A user's project in a folder of its own, and the command `fieldgate` in it, as the package has it.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { builtPackage } from '../services/shared.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A project that is there. */
export interface Project {
  readonly folder: string
  /** The command `fieldgate`, for tests that start it themselves; arguments follow. */
  readonly command: readonly [string, ...string[]]
  /** Runs a file of the project on Node. */
  node(...args: string[]): Promise<Ended>
  /** Runs the command `fieldgate`. */
  fieldgate(...args: string[]): Promise<Ended>
  /** Runs the command `fieldgate-copy`. */
  fieldgateCopy(...args: string[]): Promise<Ended>
  remove(): Promise<void>
}

/** Makes a project with `files`. */
export async function project(files: Readonly<Record<string, string>>): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-command-'))
  await mkdir(join(folder, 'node_modules'))
  const built = await builtPackage()
  await symlink(built, join(folder, 'node_modules/fieldgate'))
  await symlink(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const program = (name: string) => join(built, 'dist/adapters/cli', `${name}.js`)
  const flags = ['--disable-warning=ExperimentalWarning']
  // A command that opens bindings loads all of wrangler.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(root, '.cache/compiled') }
  async function node(...args: string[]): Promise<Ended> {
    const run = spawn(process.execPath, [...flags, ...args], { cwd: folder, env })
    const ended = new Promise<number | null>((resolve) => run.on('close', resolve))
    const [out, err] = await Promise.all([text(run.stdout), text(run.stderr)])
    return { code: await ended, out, err }
  }
  return {
    folder,
    command: [process.execPath, ...flags, program('fieldgate')],
    node,
    fieldgate: (...args) => node(program('fieldgate'), ...args),
    fieldgateCopy: (...args) => node(program('fieldgate-copy'), ...args),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

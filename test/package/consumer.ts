/**
 * A project that has installed the package as npm would publish it.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** How users run a program. */
export const runtimes = [
  ['Node', [process.execPath]],
  ['Deno', [bin('deno'), 'run', '-A', '--node-modules-dir=manual']],
  ['Bun', [bin('bun')]],
] as const

/** Packs the package, unpacks it in the folder `project`, and links what it depends on. */
export async function installInto(project: string): Promise<void> {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>
  const modules = join(project, 'node_modules')
  const fieldgate = join(modules, 'fieldgate')
  mkdirSync(fieldgate, { recursive: true })
  const packed = await run('npm', ['pack', inject('built'), '--silent', '--ignore-scripts'], {
    cwd: project,
  })
  await run('tar', ['-xzf', packed.stdout.trim(), '--strip-components=1', '-C', fieldgate], {
    cwd: project,
  })
  for (const name of ['@types/node', ...Object.keys({ ...dependencies, ...peerDependencies })]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
}

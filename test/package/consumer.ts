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

/** The manifest of the package. */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Record<string, string>
>

/**
 * Packs the package, unpacks it in the folder `project`, and links what it depends on and `packages`: by default, every
 * peer.
 */
export async function installInto(
  project: string,
  packages: readonly string[] = ['@types/node', ...Object.keys(manifest.peerDependencies)],
): Promise<void> {
  await unpackInto(project, inject('built'), 'fieldgate')
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
}

/** Packs the folder `source` as npm would publish it, and unpacks it in `project`; resolves to the tarball. */
export async function unpackInto(project: string, source: string, name: string): Promise<string> {
  const modules = join(project, 'node_modules', name)
  mkdirSync(modules, { recursive: true })
  const packed = await run('npm', ['pack', source, '--silent', '--ignore-scripts'], {
    cwd: project,
  })
  const tarball = join(project, packed.stdout.trim())
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', modules], { cwd: project })
  return tarball
}

/**
 * The real packages of TanStack Query, installed on first use by a lockfile of their own.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../services/installation.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
let folder = ''

/** Installs the packages, unless this very list of them is there. */
export async function installPackages(): Promise<void> {
  folder = await installation(join(import.meta.dirname, 'packages'))
}

/** The file that a module of the installed packages starts with. */
export const entryOf = (name: string): string =>
  join(folder, 'node_modules', name, 'build/modern/index.js')

/** What the compiler says of a program that uses the packages; empty if nothing. */
export async function typeErrors(program: string): Promise<string> {
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      isolatedDeclarations: false,
      declaration: false,
      // The app of the tests is a program of Node.
      types: ['node'],
      lib: ['ES2024', 'ESNext.Collection', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      paths: {
        'fieldgate/client': [join(root, 'src/client/index.ts')],
        'fieldgate/tanstack-query': [join(root, 'adapters/clients/tanstack-query.ts')],
      },
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: ['program.ts'],
  }
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['-p', folder, '--pretty', 'false']).catch(
    (failed: { stdout: string }) => failed,
  )
  return stdout
}

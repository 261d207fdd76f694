/**
 * The real packages of TanStack Query, installed on first use by a lockfile of their own.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const from = join(import.meta.dirname, 'packages')
const folder = join(root, '.cache/tanstack-query')

/** Installs the packages, unless this very list of them is there. */
export async function installPackages(): Promise<void> {
  const lists = ['package.json', 'package-lock.json']
  const texts = lists.map((name) => readFile(join(from, name), 'utf8'))
  const wanted = (await Promise.all(texts)).join()
  const mark = join(folder, 'installed')
  if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return
  await mkdir(folder, { recursive: true })
  for (const name of lists) await copyFile(join(from, name), join(folder, name))
  await run('npm', ['ci', '--ignore-scripts'], { cwd: folder })
  await writeFile(mark, wanted)
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

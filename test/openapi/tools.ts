/**
 * Programs that know OpenAPI, installed on first use: npm packages by a lockfile of their own, Python packages beside them.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const from = fileURLToPath(new URL('validators/', import.meta.url))
const to = fileURLToPath(new URL('../../.cache/openapi/', import.meta.url))
const python = join(to, 'python')

/** How a program ended. */
export interface Ended {
  readonly code: number
  /** Both outputs. */
  readonly text: string
}

/** Installs the programs, unless this very list of them is there. */
export async function installTools(): Promise<void> {
  const lists = ['package.json', 'package-lock.json', 'requirements.txt']
  const wanted = (await Promise.all(lists.map((name) => readFile(join(from, name), 'utf8')))).join()
  const mark = join(to, 'installed')
  if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return
  await mkdir(to, { recursive: true })
  for (const name of lists) await copyFile(join(from, name), join(to, name))
  const run = promisify(execFile)
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: to,
  })
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-compile',
    '--disable-pip-version-check',
    '--no-input',
  ]
  const options = ['--root-user-action=ignore', '--upgrade', '--target', python]
  await run('python3', [...pip, ...options, '-r', join(from, 'requirements.txt')])
  await writeFile(mark, wanted)
}

/** Runs an npm program. */
export function npmTool(name: string, args: readonly string[], cwd: string): Promise<Ended> {
  return ended(process.execPath, [join(to, 'node_modules', name), ...args], { cwd })
}

/** Runs a module of a Python package, or a line of Python after `-c`. */
export function pythonTool(
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const env = { ...variables, PYTHONPATH: [python, from].join(delimiter) }
  return ended('python3', args, { cwd, env })
}

/** The folder of the installed npm packages. */
export const packages: string = join(to, 'node_modules')

async function ended(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
    execFile(command, args, options, (error, out, err) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: out + err })
    })
  })
}

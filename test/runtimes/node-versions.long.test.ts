import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { runs } from '../runs.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The program of this version of Node, from the registry. */
async function nodeOf(version: string): Promise<string> {
  const folder = join(root, '.cache', `node-${version}`)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const program = join(folder, 'node_modules', name, 'bin/node')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    const options = ['--no-save', '--no-audit', '--no-fund', '--prefix', folder]
    await run('npm', ['install', ...options, `${name}@${version}`], { cwd: folder })
  }
  return program
}

const STORE = ['sqlite', 'sqlite-schema'].map((name) => `test/contract/store/${name}.test.ts`)
/** Before, Node runs no TypeScript, and its SQLite has no index for words. */
const ALL = [
  ...['sqlite-counts', 'sqlite-search'].map((name) => `test/contract/store/${name}.test.ts`),
  ...[...STORE, 'test/http/node.test.ts'],
]

/**
 * The oldest for SQLite and the newest, and at night the ends of the line between them: before 22.20 and 24.8, they take numbered
 * parameters by name, and 26 throws at rowids that are beyond 2^53.
 */
const VERSIONS: (readonly [string, readonly string[]])[] = [
  ['22.13.0', STORE],
  ['26.10.0', ALL],
]
if (runs(1) > 1) VERSIONS.push(['24.0.0', STORE], ['24.21.0', ALL])

it.each(VERSIONS)('SQLite keeps the contract of stores on Node %s', async (version, files) => {
  const node = await nodeOf(version)
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--maxWorkers=1', ...files]
  // CI has the report of the outer run.
  const env = {
    ...process.env,
    CI: '',
    NO_COLOR: '1',
    PATH: `${dirname(node)}:${process.env.PATH}`,
  }
  // It fails if a test does.
  const { stdout } = await run(node, args, { cwd: root, env, maxBuffer: 2 ** 28 })
  expect(Number(/Tests +(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(100)
})

/**
 * A program for somebody else's packages, which are installed on first use by a lockfile of their own. It is compiled
 * and run where they are.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** What a program is tested for, in words, and what it finds in its environment. */
interface Subject {
  readonly compiles: string
  readonly passes: string
  /** The TypeScript projects that compile it. Default: `tsconfig.json`. */
  readonly projects?: readonly string[]
  /** The files that the program imports from its own folder. */
  readonly files?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const PROVIDERS: Subject = {
  compiles: "the providers are of the package's own types",
  passes: "the package's hooks read, write and sign in through them",
}

/** Tests that `program`, a file of the test folder `from`, compiles with the real packages, and that its own tests pass. */
export function foreign(from: string, program: string, subject: Subject = PROVIDERS): void {
  const { projects = ['tsconfig.json'], files = [] } = subject
  // As deep as the test's folder, so that the program finds the sources from both.
  const installed = join(root, '.cache', basename(from))

  beforeAll(async () => {
    await mkdir(installed, { recursive: true })
    const lock = 'package-lock.json'
    const mark = join(installed, 'installed')
    for (const name of ['package.json', lock, ...projects, ...files, program])
      await copyFile(join(from, name), join(installed, name))
    const wanted = await readFile(join(from, lock), 'utf8')
    if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return
    await run('npm', ['ci', '--ignore-scripts'], { cwd: installed })
    await writeFile(mark, wanted)
  }, 300_000)

  it(subject.compiles, async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    for (const project of projects) {
      const ended = await run(process.execPath, [compiler, '-p', join(installed, project)]).catch(
        (failed: { stdout: string }) => failed,
      )
      expect(ended.stdout).toBe('')
    }
  })

  it(subject.passes, async () => {
    // Caches keep timers for minutes.
    const flags = ['-C', 'fieldgate-source', '--test', '--test-reporter=tap', '--test-force-exit']
    const env = { ...process.env, ...subject.environment }
    const ended = await run(process.execPath, [...flags, program], { cwd: installed, env }).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(ended.stdout).toContain('# fail 0')
    expect(ended.stdout).toContain('# skipped 0')
  })
}

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

/** Tests that `program`, a file of the test folder `from`, compiles with the real packages, and that its own tests pass. */
export function foreign(from: string, program: string): void {
  // As deep as the test's folder, so that the program finds the sources from both.
  const installed = join(root, '.cache', basename(from))

  beforeAll(async () => {
    await mkdir(installed, { recursive: true })
    const lock = 'package-lock.json'
    const mark = join(installed, 'installed')
    for (const name of ['package.json', lock, 'tsconfig.json', program])
      await copyFile(join(from, name), join(installed, name))
    const wanted = await readFile(join(from, lock), 'utf8')
    if ((await readFile(mark, 'utf8').catch(() => '')) === wanted) return
    await run('npm', ['ci', '--ignore-scripts'], { cwd: installed })
    await writeFile(mark, wanted)
  }, 300_000)

  it("the program compiles with the packages' own types", async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const ended = await run(process.execPath, [compiler, '-p', installed]).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(ended.stdout).toBe('')
  })

  it("the program's own tests pass", async () => {
    // Caches keep timers for minutes.
    const flags = ['-C', 'fieldgate-source', '--test', '--test-reporter=tap', '--test-force-exit']
    const ended = await run(process.execPath, [...flags, program], { cwd: installed }).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(ended.stdout).toContain('# fail 0')
    expect(ended.stdout).toContain('# skipped 0')
  })
}

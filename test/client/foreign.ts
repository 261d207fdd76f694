/**
 * A program for somebody else's packages, which are installed on first use by a lockfile of their own. It is compiled
 * and run where they are.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { installation } from '../services/installation.ts'

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

const PROGRAM: Subject = {
  compiles: "the program compiles with the packages' own types",
  passes: "the program's own tests pass",
}

/** Tests that `program`, a file of the test folder `from`, compiles with the real packages, and that its own tests pass. */
export function foreign(from: string, program: string, subject: Subject = PROGRAM): void {
  const { projects = ['tsconfig.json'], files = [] } = subject
  let installed = ''

  beforeAll(async () => {
    installed = await installation(from)
    for (const name of [...projects, ...files, program])
      await copyFile(join(from, name), join(installed, name))
  }, 900_000)

  it(subject.compiles, async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    for (const project of projects) {
      const args = [compiler, '-p', join(installed, project), '--singleThreaded']
      const ended = await run(process.execPath, args).catch((failed: { stdout: string }) => failed)
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
    // What failed is told, wherever in the report it stands.
    expect(ended.stdout.match(/^ *not ok [^]*?^ *\.\.\.$/gm) ?? []).toEqual([])
    expect(ended.stdout).toContain('# fail 0')
    expect(ended.stdout).toContain('# skipped 0')
  })
}

/**
 * The package as it would be published, built into a folder of its own: a vitest `globalSetup`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { writeAgentDocs } from '../../scripts/agent-docs.ts'
import { bundle } from '../../scripts/bundle.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the built package. */
    built: string
  }
}

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

/** Builds, and resolves to what removes the folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folders = join(root, '.cache/package')
  await mkdir(folders, { recursive: true })
  const built = await mkdtemp(join(folders, 'built-'))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const compiled = run(tsc, ['-p', 'tsconfig.build.json', '--outDir', join(built, 'dist')], {
    cwd: root,
  })
  await compiled.catch((error: { stdout: string }) => {
    throw new Error(`the build failed:\n${error.stdout}`)
  })
  await bundle(join(built, 'dist'))
  for (const name of ['package.json', 'README.md', 'LICENSE', 'docs'])
    await cp(join(root, name), join(built, name), { recursive: true })
  writeAgentDocs(built)
  project.provide('built', built)
  return () => rm(built, { recursive: true, force: true })
}

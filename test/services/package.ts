/**
 * The packages of this repository, as npm would publish them. Each is made once for all files of a run.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeAgentDocs } from '../../scripts/agent-docs.ts'
import { bundle } from '../../scripts/bundle.ts'
import { packed } from './packed.ts'

/** The folder that a project links as `node_modules/fieldgate`. */
export interface Package {
  readonly folder: string
  stop(): Promise<void>
}

/** The same with all that npm publishes, and what npm packs of it. */
export interface Published extends Package {
  readonly tarball: string
}

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const tsc = join(root, 'node_modules/.bin/tsc')
// Its threads would do much of the work each for itself, beside tests that need the processor too. What `npm run typecheck`
// finds is not looked for: each declaration says its type, so that it takes none to write them.
const DECLARATIONS = ['-p', 'tsconfig.build.json', '--singleThreaded', '--noCheck']

let modules: Promise<Package> | undefined

/**
 * The modules of the package, as users get them but for their declarations. A program that loads them starts three times as
 * fast as one that loads the sources.
 */
export function packageOfSources(): Promise<Package> {
  modules ??= emptyFolder('modules').then(async (made) => {
    await bundle(join(made.folder, 'dist'))
    await cp(join(root, 'package.json'), join(made.folder, 'package.json'))
    return made
  })
  return modules
}

/** The package with its declarations and its manual. */
export async function publishedPackage(): Promise<Published> {
  const made = await emptyFolder('built')
  const { folder } = made
  const [{ folder: source }] = await Promise.all([
    packageOfSources(),
    run(tsc, [...DECLARATIONS, '--outDir', join(folder, 'dist')], { cwd: root }).catch(
      (error: { stdout: string }) => {
        throw new Error(`the build failed:\n${error.stdout}`)
      },
    ),
  ])
  await cp(source, folder, { recursive: true })
  for (const name of ['README.md', 'LICENSE', 'docs'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  writeAgentDocs(folder)
  return { ...made, tarball: await packed(folder, folder) }
}

/** `fieldgate-admin`, where its manifest and its build are. */
export async function adminPackage(): Promise<Published> {
  const folder = join(root, 'packages/admin')
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', join(folder, 'build.ts')])
  const { folder: apart, stop } = await emptyFolder('admin')
  return { folder, tarball: await packed(apart, folder), stop }
}

async function emptyFolder(name: string): Promise<Package> {
  const folders = join(root, '.cache/package')
  await mkdir(folders, { recursive: true })
  const folder = await mkdtemp(join(folders, `${name}-`))
  return { folder, stop: () => rm(folder, { recursive: true, force: true }) }
}

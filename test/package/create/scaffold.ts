/**
 * `create-fieldgate` as it would be published, and the projects that it makes.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Choices } from '../../../packages/create-fieldgate/src/choices.ts'
import { packed } from '../../services/packed.ts'
import { adminPackage } from '../../services/shared.ts'
import { installInto, unpackInto } from '../consumer.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const source = join(root, 'packages/create-fieldgate')

/** Where the runtimes and tools of this repository are. */
export const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`

/** The packed package. */
export interface Scaffold {
  /** Its command. */
  readonly cli: string
  readonly tarball: string
  /** Makes a project in `folder`, and links what its package.json names, and nothing else. */
  make(choices: Omit<Choices, 'directory'>, folder: string): Promise<void>
}

/** Builds, packs and unpacks it in the folder `home`. */
export async function scaffoldIn(home: string): Promise<Scaffold> {
  const built = join(home, 'built')
  const tsc = join(root, 'node_modules/.bin/tsc')
  await run(tsc, ['-p', source, '--singleThreaded', '--outDir', join(built, 'dist')])
  for (const name of ['package.json', 'README.md', 'LICENSE', 'templates'])
    cpSync(join(source, name), join(built, name), { recursive: true })
  const tarball = await packed(home, built)
  await unpackInto(home, tarball, 'create-fieldgate')
  const cli = join(home, 'node_modules/create-fieldgate/dist/cli.js')
  const sets = new Map<string, Promise<string>>()

  /** The folder `node_modules` with these packages. Projects that name the same ones share it. */
  function modulesWith(names: readonly string[]): Promise<string> {
    const key = names.join()
    const made = sets.get(key)
    if (made) return made
    const set = join(home, `set-${sets.size}`)
    mkdirSync(set)
    const installed = installInto(
      set,
      names.filter((name) => !name.startsWith('fieldgate')),
    ).then(async () => {
      if (names.includes('fieldgate-admin')) {
        await unpackInto(set, (await adminPackage()).tarball, 'fieldgate-admin')
      }
      return join(set, 'node_modules')
    })
    sets.set(key, installed)
    return installed
  }

  return {
    cli,
    tarball,
    async make({ runtime, store, accounts, passkeys, admin }, folder) {
      const chosen = { '--accounts': accounts, '--passkeys': passkeys, '--admin': admin }
      const access = Object.entries(chosen).flatMap(([name, isChosen]) => (isChosen ? [name] : []))
      const choices = ['--runtime', runtime, '--store', store, ...access]
      await run(process.execPath, [cli, folder, ...choices, '--yes', '--no-install'])
      const { dependencies, devDependencies } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      ) as Record<'dependencies' | 'devDependencies', Record<string, string>>
      const names = Object.keys({ ...dependencies, ...devDependencies }).toSorted()
      symlinkSync(await modulesWith(names), join(folder, 'node_modules'))
    },
  }
}

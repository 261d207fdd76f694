/**
 * A project that has installed the package as npm would publish it.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publishedPackage } from '../services/shared.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** How users run a program. */
export const runtimes = [
  ['Node', [process.execPath]],
  ['Deno', [bin('deno'), 'run', '-A', '--node-modules-dir=manual']],
  ['Bun', [bin('bun')]],
] as const

/** The manifest of the package. */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'dependencies' | 'peerDependencies',
  Record<string, string>
>

/**
 * Unpacks the packed package in the folder `project`, and links what it depends on and `packages`: by default, every
 * peer.
 */
export async function installInto(
  project: string,
  packages: readonly string[] = ['@types/node', ...Object.keys(manifest.peerDependencies)],
): Promise<void> {
  const { tarball } = await publishedPackage()
  await unpackInto(project, tarball, 'fieldgate')
  for (const name of [...Object.keys(manifest.dependencies), ...packages]) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
}

/** Installs the packed package and `packages`, as `name@version`, from the registry: no optional package is there. */
export async function installed(project: string, packages: readonly string[]): Promise<void> {
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
  const { tarball } = await publishedPackage()
  const options = ['--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', ['install', ...options, tarball, ...packages], { cwd: project })
}

/** Unpacks a packed package in `project`, where its users find it. */
export async function unpackInto(project: string, tarball: string, name: string): Promise<void> {
  const modules = join(project, 'node_modules', name)
  mkdirSync(modules, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', modules], { cwd: project })
}

/** A program that asks an SQLite file for what no index serves, and says whether others had their turn meanwhile. */
export const slowProgram: string = `import { DatabaseSync } from 'node:sqlite'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'
import { z } from 'zod'
const path = process.argv[2]
const app = createApp({ store: sqliteStore({ path }) })
const City = defineModel('City', { fields: { name: z.string() } })
app.mount('/cities', createRouter({ model: City, middlewares: [] }))
await app.ready()
const db = new DatabaseSync(path)
db.exec(\`INSERT INTO cities (_id, doc)
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
  SELECT printf('%024x', n), json_object('_id', printf('%024x', n), 'name', 'City ' || n) FROM numbers\`)
db.close()
let turns = 0
const turn = () => {
  turns += 1
  next = setImmediate(turn)
}
let next = setImmediate(turn)
const found = await app.store.collection(City).find({ name: 'City 99999' })
clearImmediate(next)
console.log(found[0].name, turns > 1)
await app.close()
`

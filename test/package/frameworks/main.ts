/**
 * `npm run frameworks`, or `npm run frameworks -- next astro`: sends the same requests to the projects of
 * examples/frameworks, and prints a table. It installs them from the registry, which takes some minutes.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { platforms } from './platforms.ts'
import { requests } from './requests.ts'
import { installed, surprises } from './run.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'fieldgate-packed-'))
const named = process.argv.slice(2)
const names = named.length > 0 ? named : Object.keys(platforms)
const table = new Map<string, Record<string, string>>()
const wrong: string[] = []
try {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root })
  const tarball = join(folder, stdout.trim())
  for (const name of names) {
    const start = performance.now()
    const found = await triedAlone(name, tarball).catch((error: Error) => {
      wrong.push(`${name}: ${error.message}`)
      return {}
    })
    table.set(name, found)
    wrong.push(...surprises(name, found))
    console.error(`${name}: ${Math.round((performance.now() - start) / 1000)} s`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
/** What the requests find in a project that is installed by itself. */
async function triedAlone(name: string, tarball: string): Promise<Record<string, string>> {
  const project = await installed([name], tarball)
  return project.tried(name).finally(project.remove)
}

/** The status alone: what follows it is the platform's own. */
const cell = (result = '–') =>
  result === 'yes' ? result : (/^\d{3}\b/.exec(result)?.[0] ?? result)
const row = (cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`)
row(['', ...names])
row(['---', ...names.map(() => '---')])
for (const request of Object.keys(requests))
  row([request, ...names.map((name) => cell(table.get(name)?.[request]))])
for (const each of wrong) console.error(each)
process.exitCode = wrong.length > 0 ? 1 : 0

/**
 * The servers as JavaScript, so that no start-up is measured together with a compiler.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundle } from '../scripts/bundle.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

const dist = `${root}.cache/bench/built/dist/`
const peersFolder = `${dist}bench/peers/`

/** Compiles every server of the bench, and puts them beside fieldgate as it is published. */
export async function buildServers(): Promise<void> {
  for (const part of ['src', 'extras', 'adapters', 'chunks'])
    rmSync(dist + part, { recursive: true, force: true })
  await bundle(dist)
  const { status, stdout } = spawnSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}bench/tsconfig.json`],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the servers do not compile:\n${stdout}`)
  copyFileSync(`${root}package.json`, `${root}.cache/bench/built/package.json`)
}

/** Installs what the peers are made of beside their compiled form, unless it is there. */
export function installPeers(): void {
  const [from, to] = [`${root}bench/peers/`, peersFolder]
  mkdirSync(to, { recursive: true })
  if (isSame(`${from}package-lock.json`, `${to}installed.json`)) return
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(from + name, to + name)
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: to, stdio: 'inherit' })
  if (status !== 0) throw new Error('the peers could not be installed')
  copyFileSync(`${from}package-lock.json`, `${to}installed.json`)
}

/** A file beside the compiled peers. */
export function peersFile(path: string): string {
  return `${peersFolder}${path}`
}

function isSame(one: string, other: string): boolean {
  return existsSync(other) && readFileSync(one, 'utf8') === readFileSync(other, 'utf8')
}

/** The compiled form of a script of `bench/`, named without its ending. */
export function built(script: string): string {
  return `${dist}bench/${script}.js`
}

/** Bundles the compiled `script` of `bench/` as the manual says, and returns the path of what is started. */
export async function bundled(script: string): Promise<string> {
  const outdir = `${root}.cache/bench/built/bundled/`
  rmSync(outdir, { recursive: true, force: true })
  await build({
    entryPoints: { main: built(script), reader: `${dist}adapters/stores/sqlite/reader.js` },
    outdir,
    ...{ bundle: true, splitting: true, platform: 'node', format: 'esm' },
    external: ['sharp', '@libsql/client'],
    banner: {
      js: "import { createRequire as from } from 'node:module'; const require = from(import.meta.url)",
    },
    logLevel: 'warning',
  })
  return `${outdir}main.js`
}

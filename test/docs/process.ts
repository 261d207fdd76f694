/**
 * Runs a program of the manual on a port of its own, from its start to its orderly end.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { RUNTIMES } from '../runtimes/commands.ts'
import { freePorts } from '../services/server.ts'
import { adminPackage, builtPackage } from '../services/shared.ts'
import { root } from './pages.ts'
import type { File, Files } from './programs.ts'

/** For what hangs. A busy machine may take long. */
const PATIENCE_MS = 300_000

/** Passwords are hashed as ever, but with little work: programs sign hundreds of users in. */
const QUICK_PASSWORDS = `import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
const { scrypt } = crypto
crypto.scrypt = (plain, salt, length, cost, done) => scrypt(plain, salt, length, { ...cost, N: 2 }, done)
syncBuiltinESMExports()`
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(QUICK_PASSWORDS)}`

/** Programs that run; none outlives the tests. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A program that listens, or has already ended by itself. */
export interface Running {
  /** Undefined where the program has ended. */
  readonly base: string | undefined
  /** Ends it; resolves to what went wrong, or to undefined. */
  stop(): Promise<string | undefined>
}

/**
 * Starts a program in `folder`, where its data stays from one start to the next. With `isServed` an app that the
 * program makes and does not serve is served.
 */
export async function startProgram(
  main: File,
  files: Files,
  folder: string,
  isServed: boolean,
): Promise<Running> {
  const [port = 0] = await freePorts(1)
  await writeFiles(files, folder, (file) => {
    const needsServer = isServed && file.name === main.name && main.runtime === 'Node'
    return onPort(needsServer ? served(file.text, port) : file.text, port)
  })
  if (main.runtime === 'Workers') {
    const { startWorker } = await import('./worker.ts')
    return startWorker(join(folder, main.name), main.text).catch((error: Error) => ({
      base: undefined,
      stop: async () => `${main.name} did not start: ${error.message}`,
    }))
  }
  return watched(started([...commandOf(main, files), main.name], folder, port), port, main)
}

/** Starts the atlas, whose records are kept for the next time. */
export async function startAtlas(): Promise<Running> {
  const [port = 0] = await freePorts(1)
  const folder = join(root, '.cache/docs/atlas')
  mkdirSync(folder, { recursive: true })
  const main = join(root, 'test/docs/atlas-fixture.ts')
  const env = { ATLAS_DB: join(folder, 'atlas.db') }
  const child = started([...(RUNTIMES.node ?? []), main], folder, port, env)
  const atlas = { name: 'the atlas', text: `import { serve } from 'fieldgate/node'` }
  // It looks at its start whether the port is free, by listening on it for a moment.
  return watched(child, port, atlas, 'serves on')
}

/** Without the environment of the tests, which programs would read. */
export function started(
  [command = '', ...args]: readonly string[],
  folder: string,
  port: number,
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  const compiled = join(root, '.cache/docs/compiled')
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH, HOME, PORT: String(port), NODE_COMPILE_CACHE: compiled, NODE_OPTIONS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** A program has its port in its text, in `PORT`, or takes the default of `serve`. */
function onPort(text: string, port: number): string {
  return text
    .replace(/\bport: 3000\b/g, `port: ${port}`)
    .replace(/\bserve\((\w+)\)/g, `serve($1, { port: ${port} })`)
    .replace(/\blocalhost:3000\b|\b127\.0\.0\.1:3000\b/g, `127.0.0.1:${port}`)
}

function served(text: string, port: number): string {
  if (/\bserve\(/.test(text) || !/\bconst app\b/.test(text)) return text
  return `${text}\nawait (await import('fieldgate/node')).serve(app, { port: ${port} })\n`
}

/** Each runtime as users of the package run it. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, '--disable-warning=ExperimentalWarning'],
  // Processes that share a port need the flag (2.9).
  deno: [bin('deno'), 'run', '-A', '--unstable-net', '--quiet', '--node-modules-dir=manual'],
  bun: [bin('bun')],
}

function bin(name: string): string {
  return join(root, 'node_modules/.bin', name)
}

/** Makes `folder` a project that has the package as it is published, and that of the admin page if `files` name it. */
async function linkPackage(folder: string, files: Files): Promise<void> {
  const modules = join(folder, 'node_modules')
  if (existsSync(modules)) return
  mkdirSync(modules, { recursive: true })
  symlinkSync(await builtPackage(), join(modules, 'fieldgate'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  if (![...files.values()].some(({ text }) => text.includes("'fieldgate-admin'"))) return
  const { folder: admin } = await adminPackage()
  // A copy: as a link, it would look for `fieldgate` where it is.
  const copied = join(modules, 'fieldgate-admin')
  for (const name of ['package.json', 'dist']) {
    cpSync(join(admin, name), join(copied, name), { recursive: true })
  }
}

/** An example of the repository, which a page may import, takes the sources; there must be nothing twice. */
export function isOnSources(files: Files): boolean {
  return [...files.values()].some(({ text }) => /from '\.\.\/.*\/examples\//.test(text))
}

/** How a program is started: on the package as it is published, or on the sources. */
export function commandOf(
  { name, runtime }: Pick<File, 'name' | 'runtime'>,
  files: Files,
): readonly string[] {
  const commands = isOnSources(files) ? RUNTIMES : COMMANDS
  const command = commands[runtime.toLowerCase()] ?? []
  return name.includes('.test.') && runtime === 'Node' ? [...command, '--test'] : command
}

/** Whether a file is a test of vitest. */
export function isVitest({ name, text }: File): boolean {
  return name.includes('.test.') && text.includes("from 'vitest'")
}

/** Runs the vitest tests of a page; resolves to what failed. */
export async function runVitest(files: Files, folder: string): Promise<string | undefined> {
  await writeFiles(files, folder)
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  // By default vitest gives a test five seconds, which a busy machine may need for one that signs two people up.
  const args = [
    'run',
    '--no-color',
    '--no-isolate',
    '--maxWorkers=1',
    `--testTimeout=${PATIENCE_MS}`,
  ]
  const child = started([process.execPath, vitest, ...args], folder, 0)
  return (await watched(child, 0, { name: 'vitest', text: '' })).stop()
}

/** Writes the files of a page, with the texts that `textOf` gives them, where they find the package. */
export async function writeFiles(
  files: Files,
  folder: string,
  textOf: (file: File) => string = ({ text }) => text,
): Promise<void> {
  if (!isOnSources(files)) await linkPackage(folder, files)
  for (const file of files.values()) {
    const path = join(folder, file.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, textOf(file))
  }
}

type Named = Pick<File, 'name' | 'text'>

/** `ready` is what the program prints once it serves; without it, it does when its port is open. */
export async function watched(
  child: ChildProcess,
  port: number,
  main: Named,
  ready = '',
): Promise<Running> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  const exit = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const problem = (what: string) => `${main.name} ${what}:\n${output.slice(-1500)}`
  const deadline = Date.now() + PATIENCE_MS
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    if (port > 0 && output.includes(ready) && (await accepts(port))) {
      // `serve` listens before it takes signals: as long after its first answer as this one took, and a little more.
      const asked = performance.now()
      await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)
      await delay(50 + 2 * (performance.now() - asked))
      return { base: `http://127.0.0.1:${port}`, stop: () => stopped(child, exit, main, problem) }
    }
    await delay(25)
  }
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await exit
    return { base: undefined, stop: async () => problem('neither listened nor ended') }
  }
  const [code] = await exit
  const told = code === 0 ? undefined : problem(`ended with code ${code}`)
  return { base: undefined, stop: async () => told }
}

async function stopped(
  child: ChildProcess,
  exit: Promise<[code: number | null, signal: string | null]>,
  main: Named,
  problem: (what: string) => string,
): Promise<string | undefined> {
  if (child.exitCode !== null) return problem(`ended by itself with code ${child.exitCode}`)
  child.kill('SIGTERM')
  const ended = await Promise.race([exit, delay(PATIENCE_MS, undefined, { ref: false })])
  if (!ended) {
    child.kill('SIGKILL')
    return problem('did not end after SIGTERM')
  }
  // A server without `serve` does not take the signal, which ends it.
  const [code, signal] = ended
  const isOrderly = code === 0 || (!/fieldgate\/\w+/.test(servesIn(main.text)) && signal !== null)
  return isOrderly ? undefined : problem(`ended with ${code ?? signal} after SIGTERM`)
}

function servesIn(text: string): string {
  return /import \{[^}]*\bserve\b[^}]*\} from '([^']+)'/.exec(text)?.[1] ?? ''
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  const accepted = await promise
  socket.destroy()
  return accepted
}

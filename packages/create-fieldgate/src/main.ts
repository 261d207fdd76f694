/**
 * Makes a project: what to make, its files, its packages, and what to do next.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { type Choices, parse, Refused, RUNTIMES, STORES } from './choices.ts'
import { type Manager, managerOf, RUNTIME, STORE } from './manifest.ts'
import { filesOf, nameFrom } from './project.ts'
import { withAnswers, withDefaults } from './questions.ts'

const HELP = `npm create fieldgate@latest [directory] -- [options]
pnpm create fieldgate [directory] [options]

Makes a REST API with fieldgate that starts, tests and deploys. It asks for what you don't give.

  --runtime ${RUNTIMES.join('|')}
  --store ${STORES.join('|')}
                      sqlite doesn't run on Workers, and d1 and durable-sqlite only there
  --accounts          users sign up and have records of their own; otherwise clients send an API key
  --passkeys          they may sign in by passkeys, too
  --admin             with a page on which users manage records, as far as they may; needs accounts
  --yes, -y           ask nothing, and take the defaults: node, sqlite, no accounts
  --no-install        don't install the packages
  --help, -h          print this
  --version, -v       print the version`

/** Runs the command; resolves to its exit code: 0, 1 if the packages can't be installed, 2 if it could not run. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const given = parse(args)
    if (given.help) console.log(HELP)
    else if (given.version) console.log(version())
    else
      return await make(given.yes ? withDefaults(given) : await withAnswers(given), given.install)
    return 0
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const isKnown = error instanceof Refused || 'code' in error
    console.error(isKnown ? error.message : error)
    return 2
  }
}

/** The version of this package, which is that of fieldgate. */
function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}

async function make(choices: Choices, wantsInstall: boolean): Promise<number> {
  const folder = resolve(choices.directory)
  checkEmpty(folder, choices.directory)
  const { title } = RUNTIME[choices.runtime]
  const manager = managerOf(choices.runtime, process.env.npm_config_user_agent)
  const { install, run } = manager
  const files = write(folder, choices, manager)
  const store = STORE[choices.store]
  const { accounts, passkeys, admin } = choices
  const extras = [passkeys && 'passkeys', admin && 'the admin page'].filter(Boolean)
  const access = accounts ? `with ${['accounts', ...extras].join(' and ')}` : 'with an API key'
  console.log(`\nMade ${choices.directory}: ${title}, ${store.title}, ${access}.`)
  const isInstalled = wantsInstall && (await succeeds(install, folder))
  const next = [
    folder === process.cwd() ? '' : `cd ${inShell(relative(process.cwd(), folder))}`,
    isInstalled ? '' : install,
    files.has('compose.yaml') ? 'docker compose up --detach --wait' : '',
    `${run} dev`,
  ].filter((line) => line !== '')
  console.log(`\nNext:\n\n  ${next.join('\n  ')}\n\nREADME.md has the first requests.`)
  if (isInstalled || !wantsInstall) return 0
  console.error(`\n'${install}' failed. Run it again before you start.`)
  return 1
}

function write(folder: string, choices: Choices, manager: Manager): ReturnType<typeof filesOf> {
  const files = filesOf(choices, nameFrom(basename(folder)), version(), manager)
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  } catch (error) {
    throw new Refused(`'${choices.directory}' can't be written: ${(error as Error).message}`)
  }
  return files
}

/** A path as a shell takes it. */
export function inShell(path: string, isWindows: boolean = process.platform === 'win32'): string {
  if (/^[\p{L}\p{N}_./\\:@+-]+$/u.test(path)) return path
  return isWindows ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`
}

/** A new repository has its `.git` already. */
function checkEmpty(folder: string, directory: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory() && readdirSync(folder).some((name) => name !== '.git')) {
    throw new Refused(`'${directory}' isn't empty. Choose another directory.`)
  }
  // A folder above may be a file, too.
  let at = folder
  while (!statSync(at, { throwIfNoEntry: false })) at = dirname(at)
  const shown = isAbsolute(directory) ? at : relative(process.cwd(), at)
  if (!statSync(at).isDirectory()) throw new Refused(`'${shown}' is a file.`)
}

/** Runs a command in a folder, with its output; resolves to whether it succeeded. */
function succeeds(command: string, folder: string): Promise<boolean> {
  const { promise, resolve: end } = Promise.withResolvers<boolean>()
  console.log(`\n${command}`)
  // On Windows these commands are scripts, which only a shell runs.
  const child = spawn(command, { cwd: folder, stdio: 'inherit', shell: true })
  child.once('error', () => end(false))
  child.once('close', (code) => end(code === 0))
  return promise
}

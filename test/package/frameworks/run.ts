/**
 * Runs a project of examples/frameworks with a packed fieldgate: installs, builds, starts and asks it.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import packageJson from '../../../package.json' with { type: 'json' }
import { freePorts } from '../../services/server.ts'
import { added } from './added.ts'
import { type Platform, platforms } from './platforms.ts'
import { results } from './requests.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const examples = join(root, 'examples/frameworks')
const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`

/** Milliseconds for an end: the shared app takes five seconds. */
const STOP_MS = 15_000

/** Of what serves a handler here, the version that the bench has too. */
const { srvx } = packageJson.devDependencies

/** Serves the default export of a module: a function, or an object with `fetch`. */
const server = (module: string) => `import { serve } from 'srvx'
import handler from './${module}'
const fetch = handler.fetch ?? ((request) => handler(request, { waitUntil() {} }))
serve({ fetch, port: process.env.PORT, hostname: process.env.HOST })
`

/** Projects that are installed. */
export interface Installed {
  /** Sends the requests to the project `name`; resolves to what each found. */
  tried(name: string): Promise<Record<string, string>>
  remove(): void
}

/** Installs projects: one as it is, several as workspaces of one, which takes npm no longer than one of them. */
export async function installed(names: readonly string[], tarball: string): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), `fieldgate-${names.join('-')}-`))
  const projectOf = (name: string) => (names.length === 1 ? folder : join(folder, name))
  for (const name of names) lay(name, projectOf(name))
  if (names.length > 1) {
    const workspaces = { private: true, workspaces: names }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(workspaces))
  }
  const flags = ['--no-audit', '--no-fund', '--prefer-offline']
  await npm(folder, {}, 'install', ...flags, tarball, `srvx@${srvx}`)
  return {
    async tried(name) {
      const project = projectOf(name)
      const platform = platformOf(name)
      await prepared(project, platform)
      const [port = 0] = await freePorts(1)
      return served(project, platform, port)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function platformOf(name: string): Platform {
  const platform = platforms[name]
  if (!platform) throw new Error(`There is no '${name}': ${Object.keys(platforms).join(', ')}`)
  return platform
}

/** Writes the project `name`, with the shared app, into a folder. */
function lay(name: string, project: string): void {
  const file = join(project, platformOf(name).api)
  cpSync(join(examples, name), project, { recursive: true })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${readFileSync(join(examples, 'api.ts'), 'utf8')}${added}`)
}

/** What is other than platforms.ts says. */
export function surprises(name: string, found: Readonly<Record<string, string>>): string[] {
  const without = platforms[name]?.without ?? {}
  return Object.entries(found).flatMap(([request, result]) => {
    const isExpected = without[request]?.test(result) ?? result === 'yes'
    return isExpected ? [] : [`${name}, ${request}: ${result}`]
  })
}

async function npm(cwd: string, given: object, ...args: readonly string[]): Promise<void> {
  const env = { ...process.env, PATH, CI: '1', NO_COLOR: '1', ...given }
  await run('npm', args, { cwd, env, maxBuffer: 2 ** 26 }).catch((failed) => {
    throw new Error(`npm ${args[0]}: ${failed.stdout}${failed.stderr}`)
  })
}

/** Builds. */
async function prepared(project: string, platform: Platform): Promise<void> {
  if (platform.handler) writeFileSync(join(project, 'serve.ts'), server(platform.handler))
  const { scripts = {} } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  if (scripts.build) await npm(project, platform.env ?? {}, 'run', 'build')
}

async function served(
  project: string,
  { handler, args, env, page }: Platform,
  port: number,
): Promise<Record<string, string>> {
  const base = `http://127.0.0.1:${port}`
  const given = { PORT: `${port}`, HOST: '127.0.0.1', ORIGIN: base, NO_COLOR: '1', ...env }
  const [command, ...rest] = handler ? ['node', 'serve.ts'] : ['npm', 'run', 'start', '--']
  const child = spawn(command as string, [...rest, ...(args?.(port) ?? [])], {
    cwd: project,
    env: { ...process.env, PATH, ...given },
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm and some of the servers have processes of their own, which must end with them.
    detached: true,
  })
  let isOver = false
  const ended = once(child, 'close').then(() => {
    isOver = true
  })
  const end = (signal: NodeJS.Signals) => !isOver && child.pid && process.kill(-child.pid, signal)
  try {
    await listening(child, base)
    const found = await results(base)
    if (page) assert.match(await (await fetch(base)).text(), page)
    if (!handler) await stopped(end, base, ended)
    return found
  } finally {
    end('SIGKILL')
    await ended
  }
}

/** Ends the server as a container does, while a client reads a response that has no end. */
async function stopped(
  end: (signal: NodeJS.Signals) => unknown,
  base: string,
  ended: Promise<void>,
): Promise<void> {
  const clock = await fetch(`${base}/api/checks/clock`)
  const reading = clock.body?.pipeTo(new WritableStream()).catch(() => {})
  end('SIGTERM')
  const first = await Promise.race([ended, setTimeout(STOP_MS, 'late')])
  if (first === 'late') throw new Error('it goes on after SIGTERM')
  await reading
}

/** Resolves when something answers. */
async function listening(child: ChildProcess, base: string): Promise<void> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += chunk
    })
  }
  const until = Date.now() + 240_000
  while (!(await fetch(`${base}/api/cities`).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`it doesn't serve: ${said}`)
    await setTimeout(100)
  }
}

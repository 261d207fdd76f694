/**
 * Runs a project of examples/frameworks with a packed fieldgate: installs, builds, starts and asks it.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { added } from './added.ts'
import { type Platform, platforms } from './platforms.ts'
import { results } from './requests.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const examples = join(root, 'examples/frameworks')
const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`

/** Serves the default export of a module: a function, or an object with `fetch`. */
const server = (module: string) => `import { serve } from 'srvx'
import handler from './${module}'
serve({ fetch: handler.fetch ?? handler, port: process.env.PORT, hostname: process.env.HOST })
`

/** Sends the requests to the project `name`; resolves to what each found. */
export async function tried(name: string, tarball: string): Promise<Record<string, string>> {
  const platform = platforms[name]
  if (!platform) throw new Error(`There is no '${name}': ${Object.keys(platforms).join(', ')}`)
  const project = mkdtempSync(join(tmpdir(), `fieldgate-${name}-`))
  try {
    cpSync(join(examples, name), project, { recursive: true })
    mkdirSync(dirname(join(project, platform.api)), { recursive: true })
    const api = readFileSync(join(examples, 'api.ts'), 'utf8')
    writeFileSync(join(project, platform.api), `${api}${added}`)
    await prepared(project, platform, tarball)
    const port = await freePort()
    return await served(project, platform, port)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

/** What is other than platforms.ts says. */
export function surprises(name: string, found: Readonly<Record<string, string>>): string[] {
  const without = platforms[name]?.without ?? {}
  return Object.entries(found).flatMap(([request, result]) => {
    const isExpected = without[request]?.test(result) ?? result === 'yes'
    return isExpected ? [] : [`${name}, ${request}: ${result}`]
  })
}

/** Installs and builds. */
async function prepared(project: string, platform: Platform, tarball: string): Promise<void> {
  const env = { ...process.env, PATH, CI: '1', NO_COLOR: '1', ...platform.env }
  const npm = (...args: readonly string[]) =>
    run('npm', args, { cwd: project, env, maxBuffer: 2 ** 26 }).catch((failed) => {
      throw new Error(`npm ${args[0]}: ${failed.stdout}${failed.stderr}`)
    })
  await npm('install', '--no-audit', '--no-fund', '--prefer-offline', tarball)
  if (platform.handler) writeFileSync(join(project, 'serve.ts'), server(platform.handler))
  const { scripts = {} } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  if (scripts.build) await npm('run', 'build')
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
  try {
    await listening(child, base)
    const found = await results(base)
    if (page) assert.match(await (await fetch(base)).text(), page)
    return found
  } finally {
    const ended = once(child, 'close')
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
}

/** Resolves when something answers. */
async function listening(child: ChildProcess, base: string): Promise<void> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      said += chunk
    })
  }
  const until = Date.now() + 60_000
  while (!(await fetch(`${base}/api/cities`).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`it doesn't serve: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A port that nothing listened on a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await once(probe.listen(0, '127.0.0.1'), 'listening')
  const { port } = probe.address() as { readonly port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

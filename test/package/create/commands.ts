/**
 * Runs the commands of a project as its user would.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { PATH } from './scaffold.ts'

/** A command's process, in a group of its own, with what it has printed. */
export class Command {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  output = ''

  /** Starts a script of the project in `folder`: of package.json, or a task of deno.json; or of its image. */
  constructor(
    folder: string,
    script: string,
    env: Readonly<Record<string, string>> = {},
    args = '',
  ) {
    const line = script === 'image' ? imageOf(folder) : `exec ${scriptOf(folder, script)} ${args}`
    this.#child = spawn('sh', ['-c', line], {
      cwd: folder,
      env: { ...process.env, PATH, NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // wrangler has processes of its own, which must end with it.
      detached: true,
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk
      })
    }
    this.#closed = once(this.#child, 'close')
  }

  /** Resolves to the exit code. */
  async ended(): Promise<number | null> {
    await this.#closed
    return this.#child.exitCode
  }

  /** Resolves to the address that it says it serves at. */
  async url(): Promise<string> {
    const said = /(?:Listening|Ready) on (http:\/\/[\w.]+:\d+)/
    const state = () => (this.#child.exitCode === null ? '' : 'ended: ') + this.output
    await expect.poll(state, { timeout: 240_000, interval: 50 }).toMatch(said)
    return said.exec(this.output)?.[1] ?? ''
  }

  /** Asks it to end; resolves to the exit code. */
  stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.pid) process.kill(-this.#child.pid, 'SIGTERM')
    return this.ended()
  }
}

function scriptOf(folder: string, name: string): string {
  const file = ['deno.json', 'package.json'].find((each) => existsSync(join(folder, each))) ?? ''
  const manifest = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<
    'tasks' | 'scripts',
    Record<string, string> | undefined
  >
  const script = (manifest.tasks ?? manifest.scripts)?.[name]
  if (script === undefined) throw new Error(`${file} has no '${name}'`)
  return script
}

/** What the Dockerfile makes, and starts. */
function imageOf(folder: string): string {
  const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8')
  const [, make = ''] = /npx --yes (esbuild@(?:.*\\\n)*.*)/.exec(dockerfile) ?? []
  const [, start = '[]'] = /^CMD (.*)$/m.exec(dockerfile) ?? []
  const program = (JSON.parse(start) as string[]).join(' ').replace('node', 'node --env-file=.env')
  return `${make.replace(/@[\d.]+/, '')} && exec ${program}`
}

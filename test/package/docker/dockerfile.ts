/**
 * The steps of a Dockerfile, run by hand in a folder: tests have no Docker.
 *
 * What that doesn't show: the base image, its users, and what the file system outside of `WORKDIR` is like.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'

const run = promisify(execFile)

/** What would be an image. */
export interface Image {
  /** What stands for `WORKDIR`. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
  readonly user: string
}

/** Where the steps are run. */
export interface Place {
  /** What is built. */
  readonly context: string
  /** An empty folder for `WORKDIR`. */
  readonly folder: string
  /** What the commands of `RUN` have in their environment, beside what the Dockerfile says. */
  readonly env: NodeJS.ProcessEnv
}

/** An account without rights, which stands for the image's user. */
const NOBODY = 65534
const isRoot = process.getuid?.() === 0

/** Runs the steps of a Dockerfile. `/data` is a folder of `WORKDIR` here. */
export async function build(file: string, place: Place): Promise<Image> {
  const { folder } = place
  const steps = instructionsOf(file)
  const textOf = (name: string) => steps.find((step) => step.name === name)?.text ?? ''
  const variables = steps.filter(({ name }) => name === 'ENV').map(({ text }) => text)
  const pairs = variables.join(' ').matchAll(/(\w+)=(\S+)/g)
  const env = Object.fromEntries(
    [...pairs].map(([, name = '', value = '']) => [
      name,
      value.replace(/^\/data\b/, join(folder, 'data')),
    ]),
  )
  for (const { name, text } of steps) {
    if (name === 'COPY') copy(text, place)
    if (name === 'RUN') await runStep(text, { ...place, env: { ...place.env, ...env } })
  }
  const command = JSON.parse(textOf('CMD')) as string[]
  const healthCheck = JSON.parse(textOf('HEALTHCHECK').replace(/^.*? CMD /, '')) as string[]
  return { folder, env, command, healthCheck, user: textOf('USER') }
}

/** The instructions in their order, each in one line. */
function instructionsOf(file: string): { readonly name: string; readonly text: string }[] {
  const lines = readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, '')
    .split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', ...words] = line.split(' ')
      return { name, text: words.join(' ') }
    })
}

function copy(text: string, { context, folder }: Place): void {
  const paths = text.split(' ')
  const to = paths.pop() ?? ''
  for (const path of paths) {
    const target = to.endsWith('/') ? join(to, basename(path)) : to
    cpSync(join(context, path), join(folder, target), { recursive: true })
  }
}

async function runStep(text: string, { folder, env }: Place): Promise<void> {
  if (!/^mkdir \/data && chown (\w+):\1 \/data$/.test(text)) {
    // A mounted cache is that of this machine.
    await run('sh', ['-c', text.replace(/^--mount=\S+ /, '')], { cwd: folder, env })
    return
  }
  const data = join(folder, 'data')
  mkdirSync(data)
  if (isRoot) chownSync(data, NOBODY, NOBODY)
}

/** Starts a command of the image as its user. `env` wins over what the image says. */
export function start(
  { folder, env: own }: Image,
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  return spawn(command, args, {
    cwd: folder,
    env: { ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  })
}

/** Starts the image's program on `port` until `use` has ended; it must say `ready`, be healthy, and end in order. */
export async function served(
  image: Image,
  port: number,
  { env, ready }: { readonly env: NodeJS.ProcessEnv; readonly ready: string },
  use: (base: string) => Promise<void>,
): Promise<void> {
  // In the image it listens on every interface; here no other machine may reach it.
  const server = start(image, image.command, { ...env, HOST: '127.0.0.1', PORT: String(port) })
  const closed = once(server, 'close')
  let output = ''
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  try {
    const state = () => (server.exitCode === null ? '' : 'ended: ') + output
    await expect.poll(state, { timeout: 240_000, interval: 100 }).toContain(ready)
    await use(`http://127.0.0.1:${port}`)
    const check = image.healthCheck.map((part) => part.replace(':3000', `:${port}`))
    expect((await once(start(image, check, env), 'close'))[0]).toBe(0)
  } finally {
    server.kill('SIGTERM')
    expect([(await closed)[0], output]).toEqual([0, expect.anything()])
  }
}

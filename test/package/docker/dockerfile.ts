/**
 * The steps of a Dockerfile, run by hand in a folder: tests have no Docker.
 *
 * What that doesn't show: the base image, its users, and what the file system outside of `WORKDIR` is like.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

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
  /** Who owns what belongs to the image's user. */
  readonly uid: number
}

/** Runs the steps of a Dockerfile. `/data` is a folder of `WORKDIR` here. */
export async function build(file: string, place: Place): Promise<Image> {
  const { folder } = place
  const steps = instructionsOf(file)
  const textOf = (name: string) => steps.find((step) => step.name === name)?.text ?? ''
  const pairs = textOf('ENV').matchAll(/(\w+)=(\S+)/g)
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

async function runStep(text: string, { folder, env, uid }: Place): Promise<void> {
  if (!/^mkdir \/data && chown (\w+):\1 \/data$/.test(text)) {
    await run('sh', ['-c', text], { cwd: folder, env })
    return
  }
  const data = join(folder, 'data')
  mkdirSync(data)
  if (process.getuid?.() === 0) chownSync(data, uid, uid)
}

/**
 * The service of docs/migrate.md at one of its steps, as a process, with the packages that it stands on.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { installation } from '../services/installation.ts'
import { freePorts } from '../services/server.ts'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')

/** How the manual's programs are compiled. */
const COMPILED = {
  extends: join(root, 'tsconfig.base.json'),
  compilerOptions: {
    noEmit: true,
    declaration: false,
    isolatedDeclarations: false,
    // The package as it is published: its programs start in half the time, and the compiler checks no sources.
    customConditions: [],
    types: ['node'],
    lib: ['ES2024', 'DOM'],
  },
  include: ['*/*.ts'],
}

/** A folder with the code of every step, and one for the data that they share. */
export interface Workplace {
  /** Compiles all steps with the packages' own types; what the compiler says. */
  compile(): Promise<string>
  /** Starts a program of a step. */
  start(step: string, program?: string): Promise<Running>
  /** Runs a program to its end; what it prints. */
  run(step: string, program: string): Promise<string>
  /** `fieldgate doctor --json` for a module of a step; what it prints. */
  doctor(step: string, module: string): Promise<string>
  remove(): Promise<void>
}

/** A running service. */
export interface Running {
  readonly url: string
  stop(): Promise<void>
}

/** Lays out the steps beside the packages. `env` is what the programs are told. */
export async function workplace(
  steps: ReadonlyMap<string, ReadonlyMap<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<Workplace> {
  const installed = await installation(import.meta.dirname)
  const { folder: fieldgate } = await publishedPackage()
  await link(fieldgate, join(installed, 'node_modules/fieldgate'))
  for (const name of ['zod', '@types/node'])
    await link(join(root, 'node_modules', name), join(installed, 'node_modules', name))
  const work = join(installed, `work-${crypto.randomUUID()}`)
  const data = join(work, 'data')
  await mkdir(data, { recursive: true })
  const folderOf = (step: string) => join(work, step.replace(/\W+/g, '-'))
  for (const [step, files] of steps) await lay(folderOf(step), files)
  await writeFile(join(work, 'tsconfig.json'), JSON.stringify(COMPILED))
  const flags = ['--disable-warning=ExperimentalWarning']
  const options = { cwd: data, env: { ...process.env, ...env } }
  return {
    async compile() {
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      const ended = promisify(execFile)(process.execPath, [
        compiler,
        '-p',
        work,
        '--singleThreaded',
      ])
      return (await ended.catch((failed: { stdout: string }) => failed)).stdout
    },
    async start(step, program = 'main.ts') {
      const [port = 0] = await freePorts(1)
      const started = { ...options, env: { ...options.env, PORT: String(port) } }
      return running([...flags, join(folderOf(step), program)], started, port)
    },
    async run(step, program) {
      const args = [...flags, join(folderOf(step), program)]
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options)
      return stdout + stderr
    },
    async doctor(step, module) {
      const command = join(fieldgate, 'dist/adapters/cli/fieldgate.js')
      const args = [...flags, command, 'doctor', join(folderOf(step), module), '--json']
      const ended = promisify(execFile)(process.execPath, args, options)
      return (await ended.catch((failed: { stdout: string }) => failed)).stdout
    },
    remove: () => rm(work, { recursive: true, force: true }),
  }
}

async function lay(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder)
  for (const [name, text] of files) await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await rm(path, { recursive: true, force: true })
  await symlink(target, path)
}

async function running(
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  port: number,
): Promise<Running> {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString()
    })
  const url = `http://127.0.0.1:${port}`
  const answers = () => fetch(url).then(Boolean, () => false)
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`ended before it served:\n${output}`)
    await delay(50)
  }
  return {
    url,
    async stop() {
      child.kill()
      await exited
    },
  }
}

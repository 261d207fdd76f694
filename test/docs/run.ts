/**
 * Runs the programs of a page, and its commands against them.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { isBrief, runTogether } from './brief.ts'
import { folderOf } from './check-types.ts'
import {
  isOnSources,
  isVitest,
  type Running,
  runVitest,
  startAtlas,
  startProgram,
} from './process.ts'
import {
  type Commands,
  type Edition,
  type File,
  type Files,
  mainFiles,
  serverOf,
} from './programs.ts'
import { differenceOf, jsonIn, jsonValues } from './shape.ts'

/** An edition with what of it runs, in a folder of its own. */
interface Prepared {
  readonly edition: Edition
  readonly folder: string
  /** What no command asks. */
  readonly unasked: readonly File[]
  readonly vitest: File | undefined
}

/** What went wrong in editions of the programs of pages, `atOnce` at the same time, each as `docs/models.md:12: …`. */
export async function problemsOf(editions: readonly Edition[], atOnce: number): Promise<string[]> {
  const all = editions.map(prepared)
  const areFine = await briefAreFine(all)
  const problems: string[] = []
  const next = all.values()
  const work = async () => {
    for (const one of next) {
      const found = await problemsIn(one, areFine).catch((error) => [
        `${one.edition.page}: ${error}`,
      ])
      problems.push(...found)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return problems
}

function prepared(edition: Edition): Prepared {
  const folder = folderOf(edition, 'runs')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const runs = mainFiles(edition.files).filter(({ isRun }) => isRun)
  const asked = new Set(edition.commands.map(({ program }) => program))
  const unasked = runs.filter((file) => !asked.has(file.name) && !isVitest(file))
  return { edition, folder, unasked, vitest: runs.find(isVitest) }
}

/** Runs the brief programs of all pages in one process, and those on the sources in another. */
async function briefAreFine(all: readonly Prepared[]): Promise<boolean> {
  const brief = all
    .map(({ edition: { files }, folder, unasked }) => {
      return { files, folder, programs: unasked.filter(isBrief) }
    })
    .filter(({ programs }) => programs.length > 0)
  const onSources = brief.filter(({ files }) => isOnSources(files))
  const published = brief.filter(({ files }) => !isOnSources(files))
  const fine = await Promise.all([published, onSources].map(runTogether))
  return fine.every(Boolean)
}

async function problemsIn(
  { edition, folder, unasked, vitest }: Prepared,
  areFine: boolean,
): Promise<string[]> {
  const problems: string[] = []
  if (vitest) problems.push(...at(edition, vitest, await runVitest(edition.files, folder)))
  // One after the other where something went wrong: this tells which it was.
  for (const main of areFine ? unasked.filter((file) => !isBrief(file)) : unasked) {
    const running = await startProgram(main, edition.files, folder, false)
    problems.push(...at(edition, main, await running.stop()))
  }
  return [...problems, ...(await commandProblems(edition, folder))]
}

function at({ page }: Edition, { lines }: File, problem: string | undefined): string[] {
  return problem === undefined ? [] : [`${page}:${lines[0]}: ${problem}`]
}

async function commandProblems(edition: Edition, folder: string): Promise<string[]> {
  const problems: string[] = []
  const shell = new Shell(folder)
  const server = new Server(edition, folder)
  for (const commands of edition.commands.filter(({ block }) => isAsked(block.text))) {
    const { page, line } = commands.block
    const base = await server.answering(commands)
    const problem = base ? await shell.run(commands, base) : 'no program of this page answers'
    if (problem) problems.push(`${page}:${line}: ${problem}`)
  }
  await server.stop()
  shell.end()
  return [...problems, ...server.problems]
}

/** CI has jq; where it is missing, the commands that end in it are left out. */
const HAS_JQ = spawnSync('jq', ['--version']).status === 0

/** Commands that ask a program of the page. Docker is not there everywhere. */
function isAsked(text: string): boolean {
  if (/\bjq\b/.test(text) && !HAS_JQ) return false
  return /\bcurl\b/.test(text) && !/^\s*(?:sudo )?docker\b/m.test(text)
}

/** The program that a page's commands talk to, started anew where the page has added to it. */
class Server {
  readonly problems: string[] = []
  readonly #edition
  readonly #folder
  #running: { program: Running; main: File | undefined; files: Files } | undefined

  constructor(edition: Edition, folder: string) {
    this.#edition = edition
    this.#folder = folder
  }

  async answering({ files, program }: Commands): Promise<string | undefined> {
    const isAtlas = this.#edition.isOnAtlas
    const main = isAtlas ? undefined : serverOf(program ?? '', files)
    if (!main && !isAtlas) return undefined
    const known = this.#running
    if (known && known.main?.name === main?.name && (isAtlas || known.files === files)) {
      return known.program.base
    }
    await this.stop()
    const started = main ? startProgram(main, files, this.#folder, true) : startAtlas()
    this.#running = { program: await started, main, files }
    return this.#running.program.base
  }

  async stop(): Promise<void> {
    const problem = await this.#running?.program.stop()
    if (problem) this.problems.push(`${this.#edition.page}: ${problem}`)
    this.#running = undefined
  }
}

/** A busy machine may take long to answer; commands that hang end some time. */
const ANSWER_MS = 240_000

/** One shell for the commands of a page, so that variables stay; it also knows which of its ids stand for which. */
class Shell {
  readonly #child
  readonly #seen = new Map<string, string>()
  readonly #folder
  #output = ''

  constructor(folder: string) {
    this.#folder = folder
    this.#child = spawn('bash', ['--norc'], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (chunk) => {
        this.#output += chunk
      })
    }
  }

  /** What differs from the page, or undefined. */
  async run({ block, expected }: Commands, base: string): Promise<string | undefined> {
    const text = await withIds(this.#replaced(block.text), base)
    await makeUploads(text, this.#folder)
    const output = await this.#print(
      silent(text).replace(/(?:http:\/\/)?(?:localhost|127\.0\.0\.1):(?:3000|8787)/g, base),
    )
    if (output.includes('curl: (')) return output.slice(-300)
    if (expected === '') return undefined
    const wanted = jsonValues(expected)
    // What the page names by an id or cursor of its own may not be there.
    const mayBeEmpty = /\b[0-9a-f]{24}\b|…/.test(text)
    let printed: unknown[]
    try {
      printed = jsonIn(output)
    } catch {
      return `printed no JSON: ${output.slice(0, 300)}`
    }
    if (printed.length === 0 && mayBeEmpty) return undefined
    const unmatched = matchInOrder(wanted, printed, mayBeEmpty)
    if (typeof unmatched === 'string') return unmatched
    for (const [name, actual] of unmatched) this.#seen.set(name, actual)
    return undefined
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }

  #replaced(text: string): string {
    const known = [...this.#seen].toSorted(([one], [other]) => other.length - one.length)
    return known.reduce((result, [name, actual]) => result.replaceAll(name, actual), text)
  }

  async #print(text: string): Promise<string> {
    this.#output = ''
    const mark = `--- ${Math.random()}`
    this.#child.stdin.write(`${text}\nprintf '\\n%s\\n' '${mark}'\n`)
    const limit = AbortSignal.timeout(ANSWER_MS)
    while (!this.#output.includes(mark)) await once(this.#child.stdout, 'data', { signal: limit })
    return this.#output.split(mark)[0]?.trim() ?? ''
  }
}

/** Makes the images that commands upload, as in `-F 'cover=@photo.jpg'`. */
async function makeUploads(text: string, folder: string): Promise<void> {
  for (const [, name = '', type = ''] of text.matchAll(
    /=@([\w.-]+\.(png|jpe?g|webp|gif|avif))\b/g,
  )) {
    const image = sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
    await image.toFormat(type as 'png').toFile(join(folder, name))
  }
}

/** Matches what a page shows with what was printed, in order; the page may leave some out. */
function matchInOrder(
  wanted: readonly unknown[],
  printed: readonly unknown[],
  mayBeEmpty: boolean,
): Map<string, string> | string {
  const [value, ...others] = wanted
  if (wanted.length === 0) return new Map()
  if (printed.length < wanted.length) {
    return `printed ${printed.length} JSON values, the page has ${wanted.length}`
  }
  const [found, ...rest] = printed
  const seen = new Map<string, string>()
  const difference = differenceOf(value, found, { seen, mayBeEmpty })
  if (difference === undefined) {
    const matched = matchInOrder(others, rest, mayBeEmpty)
    return typeof matched === 'string' ? matched : new Map([...seen, ...matched])
  }
  // One of those that follow may match, as long as enough are left.
  return rest.length < wanted.length ? difference : matchInOrder(wanted, rest, mayBeEmpty)
}

/** Lines that install, start or stop something: here the program runs already. */
const STARTS =
  /^(?:\w+=(?:"[^"]*"|\S*) +)*(?:node|deno|bun|npx|npm|mkdir|cd|kill)\b(?:.*\\\n)*.*$/gm

/** `curl` without its progress meter, and with the contents of `$(…)` left alone. */
function silent(text: string): string {
  return text.replace(STARTS, '').replace(/\bcurl\b(?! -s)/g, 'curl -sS')
}

/** An id that nothing before has printed stands for the first record under its path. */
async function withIds(text: string, base: string): Promise<string> {
  let result = text
  for (const [, path = '', id = ''] of text.matchAll(/:3000((?:\/[\w-]+)+)\/([0-9a-f]{24})\b/g)) {
    const response = await fetch(`${base}${path}`)
    const { data } = (await response.json()) as { data?: { _id?: string }[] }
    const [record] = Array.isArray(data) ? data : []
    if (record?._id) result = result.replaceAll(id, record._id)
  }
  return result
}

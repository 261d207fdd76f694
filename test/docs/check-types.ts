/**
 * Writes the programs of the manual into `.cache/docs/blocks` and checks the types of all in one run of `tsc`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readNames } from '../../scripts/entries.ts'
import { adminPackage, publishedPackage } from '../services/shared.ts'
import { root } from './pages.ts'
import type { Edition } from './programs.ts'

const run = promisify(execFile)

/** Where the programs are written; inside the repository, so that they find `fieldgate` and its peers. */
const FOLDER = join(root, '.cache/docs/blocks')

/** What programs use of Deno and Bun, whose own types we do not install. */
const GLOBALS = `
type ServeHandler = (request: Request) => Response | Promise<Response>
type DenoAddress = { hostname: string; port: number }
declare const Deno: {
  readonly env: { get(name: string): string | undefined; toObject(): Record<string, string> }
  serve(options: { port?: number; hostname?: string }, handler: ServeHandler): { shutdown(): Promise<void>; addr: DenoAddress }
  connect(address: DenoAddress): Promise<{ write(bytes: Uint8Array): Promise<number>; read(into: Uint8Array): Promise<number | null> }>
  serve(handler: ServeHandler): { shutdown(): Promise<void> }
  test(name: string, test: () => void | Promise<void>): void
}
type BunSocket = { write(text: string): number }
type BunHandlers = { open(socket: BunSocket): void; data(socket: BunSocket): void; close(socket: BunSocket): void }
declare const Bun: {
  readonly env: Record<string, string | undefined>
  serve(options: { port?: number; hostname?: string; fetch: ServeHandler }): { stop(): Promise<void>; port: number }
  connect(options: { hostname: string; port: number; socket: BunHandlers }): Promise<BunSocket>
}
`

const CONFIG = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: {
    noEmit: true,
    declaration: false,
    isolatedDeclarations: false,
    // Programs of a page show a part of an app.
    noUnusedLocals: false,
    noUnusedParameters: false,
    types: ['node'],
    lib: ['ES2024', 'ESNext.Collection', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
  },
  include: ['globals.d.ts', '*/*/*.ts'],
}

/** The folder of an edition below `.cache/docs`: of its types, or of its runs, which are as deep. */
export function folderOf({ page, number }: Edition, kind: 'blocks' | 'runs'): string {
  const name = page.replace(/^docs\/|\.md$/g, '').replaceAll('/', '-')
  return join(root, '.cache/docs', kind, name, String(number))
}

/** What the packages declare, as users have it: the compiler would check the sources with each run, and takes twice as long. */
async function declarations(): Promise<Record<string, string[]>> {
  const [{ folder }, admin] = await Promise.all([publishedPackage(), adminPackage()])
  const { exports } = readNames('package.json')
  const typed = Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string'
      ? []
      : [[join('fieldgate', name), [join(folder, `${target.types}`)]]],
  )
  return {
    ...Object.fromEntries(typed),
    'fieldgate-admin': [join(admin.folder, 'dist/index.d.ts')],
  }
}

/** The errors of all programs, each as `docs/models.md:12: …`; `looser` is what a reader's settings change. */
export async function typeErrors(
  editions: readonly Edition[],
  looser: Readonly<Record<string, boolean>> = {},
): Promise<string[]> {
  const paths = await declarations()
  const config = { ...CONFIG, compilerOptions: { ...CONFIG.compilerOptions, paths, ...looser } }
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'globals.d.ts'), GLOBALS)
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(config))
  const places = new Map<string, (line: number) => string>()
  for (const edition of editions) {
    for (const { name, text, lines } of edition.files.values()) {
      const file = join(folderOf(edition, 'blocks'), name)
      mkdirSync(dirname(file), { recursive: true })
      // Without imports and exports it would share its names with all others.
      writeFileSync(file, `${text}export {}\n`)
      places.set(file, (line) => `${edition.page}:${lines[line - 1] ?? lines.at(-1)}`)
    }
  }
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['-p', FOLDER, '--pretty', 'false', '--singleThreaded'], {
    cwd: root,
  }).catch((failed: { stdout: string }) => failed)
  const errors = [...stdout.matchAll(/^(\S[^(\n]*)\((\d+),\d+\): error (.*)$/gm)]
  if (stdout.trim() !== '' && errors.length === 0) throw new Error(stdout)
  const told = errors.map(([, file = '', line, message]) => {
    const place = places.get(join(root, file))
    return place ? `${place(Number(line))}: ${message}` : `${file}:${line}: ${message}`
  })
  // A file that two editions share has its errors in both.
  return [...new Set(told)]
}

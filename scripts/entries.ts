/**
 * `npm run entries`, after a change of `exports` or `imports` in package.json: writes what follows from the sources.
 *
 * What a name leads to is written once, under the condition `fieldgate-source`, with the conditions that choose by
 * runtime inside it. Programs of this repository run with that condition, so they need no build. From it follow the
 * built modules and declarations that users get, and deno.json.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What a name leads to: a file, or one for each condition. */
export type Target = string | { readonly [condition: string]: Target }
type Targets = Readonly<Record<string, Target>>

/** The condition that leads to the sources. */
export const SOURCE = 'fieldgate-source'

/** The members of package.json and deno.json that say which names there are. */
export interface Names {
  readonly exports: Targets
  readonly imports: Targets
  readonly bin?: Readonly<Record<string, string>>
}

/** The names of package.json with everything that follows from their sources. */
export function completed({ exports, imports }: Names): Names {
  return { exports: eachOf(exports, built), imports: eachOf(imports, built) }
}

/** The names as deno.json has them: sources alone, and of those what the conditions choose on Deno. */
export function onDeno({ exports, imports }: Names): Names {
  return {
    exports: eachOf(exports, (source) => chosen(source, [])),
    imports: eachOf(imports, (source) => chosen(source, ['deno'])),
  }
}

function eachOf(targets: Targets, change: (source: Target) => Target): Targets {
  return Object.fromEntries(
    Object.entries(targets).flatMap(([name, target]) => {
      if (typeof target !== 'string') return [[name, change(target[SOURCE] ?? {})]]
      // package.json itself, which is no module.
      return change === built ? [[name, target]] : []
    }),
  )
}

function built(source: Target): Target {
  const modules = inDist(source, '.js')
  return {
    [SOURCE]: source,
    types: inDist(chosen(source, []), '.d.ts'),
    ...(typeof modules === 'string' ? { default: modules } : modules),
  }
}

/** What `tsc` makes of the sources. */
function inDist(source: Target, ending: '.js' | '.d.ts'): Target {
  if (typeof source === 'string') return source.replace('./', './dist/').replace(/\.ts$/, ending)
  return Object.fromEntries(
    Object.entries(source).map(([condition, target]) => [condition, inDist(target, ending)]),
  )
}

function chosen(target: Target, conditions: readonly string[]): Target {
  if (typeof target === 'string') return target
  const first = Object.keys(target).find((name) => name === 'default' || conditions.includes(name))
  return chosen(target[first ?? ''] ?? '', conditions)
}

const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

type File = 'package.json' | 'deno.json'

/** The sources of what package.json leads to, relative to it: what others import or run, and what runtimes choose. */
export function modules(): { readonly named: string[]; readonly chosen: string[] } {
  const { exports, imports, bin = {} } = read('package.json')
  const sourcesOf = (targets: Targets) =>
    Object.values(targets).flatMap((target) =>
      typeof target === 'string' ? [] : filesOf(target[SOURCE] ?? {}),
    )
  const commands = Object.values(bin).map((path) =>
    path.replace('./dist/', './').replace(/\.js$/, '.ts'),
  )
  const pathOf = (file: string) => file.replace('./', '')
  return {
    named: [...sourcesOf(exports), ...commands].map(pathOf),
    chosen: sourcesOf(imports).map(pathOf),
  }
}

function filesOf(target: Target): string[] {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf)
}

/** The names in a file of the repository's root. */
export function readNames(file: File): Names {
  const { exports, imports } = read(file)
  return { exports, imports }
}

function read(file: File): Names {
  return JSON.parse(readFileSync(fileOf(file), 'utf8')) as Names
}

function write(file: File, names: Names): void {
  writeFileSync(fileOf(file), `${JSON.stringify({ ...read(file), ...names }, null, 2)}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = readNames('package.json')
  write('package.json', completed(manifest))
  write('deno.json', onDeno(manifest))
}

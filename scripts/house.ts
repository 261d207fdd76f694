/**
 * The floor plan of the source: `npm run house [-- src/auth]` prints, for each folder, its rooms (files and folders),
 * the arrows between them (which room imports from which, types included), its floors (the longest way down), and the
 * circles. `test/package/house.test.ts` holds what must stay so.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** What imports what: names of rooms or files. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** One folder as a house. */
export interface Plan {
  readonly folder: string
  readonly rooms: readonly string[]
  /** `[from, to]`, each pair once. */
  readonly arrows: readonly (readonly [string, string])[]
  /** How many rooms the longest way from importer to imported has; circles count as one. */
  readonly floors: number
  /** Rooms that reach each other. */
  readonly circles: readonly (readonly string[])[]
}

/** The files below `folder`, each with the files that it imports, types included. Paths are relative to the project. */
export function importsOf(folder: string): Graph {
  const files = globSync(`${folder}/**/*.{ts,js}`, { cwd: root }).filter(
    (file) => !file.endsWith('.d.ts'),
  )
  return new Map(files.map((file) => [file, importedBy(file)]))
}

function importedBy(file: string): Set<string> {
  const source = readFileSync(join(root, file), 'utf8')
  const named = source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'(\.[^']+)'/g)
  const loaded = source.matchAll(/\bimport\(\s*'(\.[^']+)'\s*\)/g)
  return new Set([...named, ...loaded].map(([, name = '']) => normalize(join(dirname(file), name))))
}

/** The house that `folder` is: what lies outside of it is left out. */
export function planOf(folder: string, imports: Graph): Plan {
  const roomOf = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined
  const graph = new Map<string, Set<string>>()
  for (const [file, targets] of imports) {
    const from = roomOf(file)
    if (from === undefined) continue
    const reached = graph.get(from) ?? new Set()
    graph.set(from, reached)
    for (const target of targets) {
      const to = roomOf(target)
      if (to !== undefined && to !== from) reached.add(to)
    }
  }
  const arrows = [...graph].flatMap(([from, reached]) =>
    [...reached].map((to) => [from, to] as const),
  )
  return {
    folder,
    rooms: [...graph.keys()].toSorted(),
    arrows,
    floors: floorsOf(graph),
    circles: circlesOf(graph),
  }
}

/** Groups of nodes that reach each other of two nodes and more. */
export function circlesOf(graph: Graph): string[][] {
  return components(graph).filter((group) => group.length > 1)
}

/** All groups of nodes that reach each other, each after the groups that it reaches. */
function components(graph: Graph): string[][] {
  const reached = new Map([...graph.keys()].map((node) => [node, reachedFrom(node, graph)]))
  const groups: string[][] = []
  for (const [node, below] of reached) {
    if (groups.some((group) => group.includes(node))) continue
    groups.push(
      [...graph.keys()].filter(
        (other) => other === node || (below.has(other) && reached.get(other)?.has(node)),
      ),
    )
  }
  // Who reaches less is reached by more.
  return groups.sort(
    ([one = ''], [other = '']) => (reached.get(one)?.size ?? 0) - (reached.get(other)?.size ?? 0),
  )
}

function reachedFrom(start: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>()
  const next = [start]
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    for (const target of graph.get(node) ?? []) {
      if (!graph.has(target) || reached.has(target)) continue
      reached.add(target)
      next.push(target)
    }
  }
  return reached
}

function floorsOf(graph: Graph): number {
  const floor = new Map<string, number>()
  for (const group of components(graph)) {
    const below = group.flatMap((node) => [...(graph.get(node) ?? [])])
    const lower = below.filter((node) => !group.includes(node)).map((node) => floor.get(node) ?? 0)
    for (const node of group) floor.set(node, 1 + Math.max(0, ...lower))
  }
  return Math.max(0, ...floor.values())
}

/** Every folder below `folder`, and itself, that has rooms. */
export function foldersOf(folder: string, imports: Graph): string[] {
  const folders = new Set([folder])
  for (const file of imports.keys()) {
    for (let at = dirname(file); at.length > folder.length; at = dirname(at)) folders.add(at)
  }
  return [...folders].toSorted()
}

function print(folders: readonly string[]): void {
  for (const top of folders) {
    const imports = importsOf(top)
    console.log('| folder | rooms | arrows | floors | circles |\n| --- | --- | --- | --- | --- |')
    for (const folder of foldersOf(top, imports)) {
      const { rooms, arrows, floors, circles } = planOf(folder, imports)
      const names = circles.map((group) => group.join(', ')).join('; ')
      console.log(`| ${folder} | ${rooms.length} | ${arrows.length} | ${floors} | ${names} |`)
    }
    const circles = circlesOf(imports)
    console.log(`\ncircles of files in ${top}: ${circles.length}`)
    for (const circle of circles) console.log(`- ${circle.join(', ')}`)
    console.log('')
  }
}

/** Lines, comments, `any` and casts of the files below `folders`, the last three for each hundred or thousand lines. */
function printNumbers(folders: readonly string[]): void {
  const imports = folders.flatMap((folder) => [...importsOf(folder)])
  const sources = imports.map(([file]) => readFileSync(join(root, file), 'utf8'))
  const lines = sources
    .map((source) => source.split('\n').length - 1)
    .sort((one, other) => one - other)
  const all = lines.reduce((sum, count) => sum + count, 0)
  const comments = sources.flatMap((source) => source.match(/\/\*\*?[^]*?\*\/|^\s*\/\/.*$/gm) ?? [])
  const commented = comments.reduce((sum, comment) => sum + comment.split('\n').length, 0)
  const code = sources.map((source) => source.replace(/\/\*\*?[^]*?\*\/|\/\/.*$/gm, ''))
  const counted = (pattern: RegExp) =>
    code.reduce((sum, source) => sum + (source.match(pattern)?.length ?? 0), 0)
  const perThousand = (count: number) => ((count * 1000) / all).toFixed(1)
  console.log(`${folders.join(' and ')}: ${lines.length} files, ${all} lines; a file has ${lines[lines.length >> 1]} lines in the median,
${lines.at(-1)} at most, and imports ${(imports.reduce((sum, [, to]) => sum + to.size, 0) / lines.length).toFixed(1)} others. ${((commented * 100) / all).toFixed(0)} % of the lines are comments.
For each thousand lines: ${perThousand(counted(/: any\b(?!\s*[(.])|<any>|as any\b/g))} any, ${perThousand(counted(/[\w)\]}] as (?!const\b)/g))} casts.`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , ...asked] = process.argv
  const folders = asked.length > 0 ? asked : ['src', 'extras', 'adapters']
  print(folders)
  printNumbers(folders)
}

/** `fieldgate doctor --upgrade [--since 0.1.0] [--json]`: which upgrade notes a project should read. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Unusable } from './unusable.ts'

/** A note of `docs/upgrading.md`. */
export interface Note {
  readonly version: string
  /** `Changed`, `Removed` and the like. */
  readonly kind: string
  readonly text: string
}

/** A note, and where a project names what it is about. */
export interface Concern extends Note {
  /** As in `src/app.ts:12`. */
  readonly places: readonly string[]
}

export interface Upgrade {
  readonly from: string
  readonly to: string
  readonly notes: readonly Concern[]
}

/** Code of a project; what is built or installed is not its own. */
const CODE = '**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,vue,svelte,astro}'
const NOT_ITS_OWN = ['node_modules', 'dist', 'build']
const MOST_PLACES = 3

/** What to read in `folder` before or after an upgrade: from the version `since` on, by default the one that it has. */
export function upgradeOf(packaged: URL, folder: string, since: string | undefined): Upgrade {
  const to: string = JSON.parse(readFileSync(new URL('package.json', packaged), 'utf8')).version
  const from = since ?? versionOf(folder)
  if (from === undefined || (since === undefined && from === to)) {
    throw new Unusable(
      `${from ? `this project has ${from}, which is this version` : 'there is no fieldgate in package.json'}. Name the version that you come from, as in --since 0.1.0, or ask a newer one: npx fieldgate@latest doctor --upgrade`,
    )
  }
  if (!/^\d+\.\d+\.\d+/.test(from)) throw new Unusable(`--since is a version such as 0.1.0`)
  const page = readFileSync(new URL('docs/upgrading.md', packaged), 'utf8')
  const isAfter = (version: string) => version.localeCompare(from, 'en', { numeric: true }) > 0
  const notes = notesIn(page).filter(({ version }) => isAfter(version))
  return { from, to, notes: concerns(notes, folder) }
}

/** The notes of the page, in its order: the newest version first. */
export function notesIn(page: string): readonly Note[] {
  return page.split(/^## To /m).flatMap((section, at) => {
    const [version = ''] = section.split('\n', 1)
    if (at === 0) return []
    return section.split(/^### /m).flatMap((part, index) => {
      const [kind = ''] = part.split('\n', 1)
      const items = index === 0 ? [] : (part.match(/^- .*(?:\n {2}.*)*/gm) ?? [])
      return items.map((item) => ({ version, kind, text: item.slice(2).replace(/\n\s+/g, ' ') }))
    })
  })
}

/** The version that a project has: the installed one, else the first that its package.json allows. */
function versionOf(folder: string): string | undefined {
  const read = (file: string) =>
    existsSync(join(folder, file)) && JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const { dependencies, devDependencies } = Object(read('package.json'))
  const range = dependencies?.fieldgate ?? devDependencies?.fieldgate
  const installed: string | undefined = Object(read('node_modules/fieldgate/package.json')).version
  return installed ?? /^\D*(\d+\.\d+\.\d+\S*)/.exec(String(range))?.[1]
}

/** The notes with the places that name what they are about; those with places come first. */
function concerns(notes: readonly Note[], folder: string): readonly Concern[] {
  const files = notes.length === 0 ? [] : codeIn(folder)
  const found = notes.map((note) => ({ ...note, places: placesOf(note, files) }))
  return found.toSorted((a, b) => Math.sign(b.places.length) - Math.sign(a.places.length))
}

function codeIn(folder: string) {
  const exclude = (path: string) =>
    NOT_ITS_OWN.includes(basename(path)) || basename(path).startsWith('.')
  const files = globSync(CODE, { cwd: folder, exclude }).sort()
  const all = files.map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
  return all.filter(({ text }) => text.includes('fieldgate'))
}

/** Where code names all that one of the note's code spans does. */
function placesOf({ text }: Note, files: ReturnType<typeof codeIn>): readonly string[] {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => namesIn(span))
  const places = files.flatMap(({ file, text: code }) => {
    const span = spans.find(
      (names) => names.length > 0 && names.every((name) => wordOf(name).test(code)),
    )
    const rarest = span?.at(-1)
    if (rarest === undefined) return []
    const before = code.slice(0, code.search(wordOf(rarest)))
    return [`${file}:${before.split('\n').length}`]
  })
  return places.slice(0, MOST_PLACES)
}

const VALUES = new Set(['true', 'false', 'null', 'undefined', 'const', 'await', 'import', 'from'])

/** Names in code: `createRouter`, `fieldgate/mcp`; numbers, values and short words are in every file. */
function namesIn(span: string): readonly string[] {
  const names = span.match(/[A-Za-z_$][\w$]*(?:[/-][\w$]+)*/g) ?? []
  return names.filter((name) => name.length > 2 && !VALUES.has(name))
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`)
}

export function upgradeText({ from, to, notes }: Upgrade): string {
  const title = `From fieldgate ${from} to ${to}: `
  if (notes.length === 0) return `${title}there is nothing to change.`
  const items = notes.map(({ version, kind, text, places }) => {
    const where = places.map((place) => `\n    ${place}`).join('')
    return `${places.length > 0 ? '*' : ' '} ${version} ${kind}: ${text}${where}`
  })
  const concerned = notes.filter(({ places }) => places.length > 0).length
  const count = `${notes.length} ${notes.length === 1 ? 'note' : 'notes'}`
  return `${title}${count}. Those with a star (${concerned}) are about what your code names.\n\n${items.join('\n')}`
}

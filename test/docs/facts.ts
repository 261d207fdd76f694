/**
 * What the manual has to name, read from the sources.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Node, Project, type VariableDeclaration } from 'ts-morph'
import { readNames } from '../../scripts/entries.ts'
import type { Reference } from '../../scripts/reference/entries.ts'
import { membersOf } from '../../scripts/reference/members.ts'
import { areOptions } from '../../scripts/reference/page.ts'
import { ALL_PARTS, accounts } from '../../src/auth/parts.ts'
import { LIST_PARAMETERS } from '../../src/records/list/parameters.ts'
import { root } from './pages.ts'

/** Something that the manual has to name. */
export interface Fact {
  /** For people: `AppOptions.store`. */
  readonly name: string
  /** How the manual may write it. */
  readonly pattern: RegExp
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const word = (name: string) => new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`)
const escaped = (part: string) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
const unique = (facts: readonly Fact[]) => [
  ...new Map(facts.map((fact) => [fact.name, fact])).values(),
]

/** `name`, `auth.name`, or `{ name: … }`: a word within other code does not explain an option. */
function optionNamed(name: string): RegExp {
  return new RegExp(`^(?:[\\w.]+\\.)?${name}(?:$|: )|[{,(] *${name}\\b ?[:,}(]`, 'm')
}

/** The options of every exported type that users write. */
export function options({ entries }: Reference): Fact[] {
  return unique(
    entries.flatMap(({ exported }) =>
      exported.flatMap(({ name, declarations: [declaration] }) => {
        if (!Node.isInterfaceDeclaration(declaration)) return []
        const members = membersOf(declaration)
        if (!areOptions(name, members)) return []
        const named = members.filter((member) => /^\w+$/.test(member.name))
        return named.map((member) => ({
          name: `${name}.${member.name}`,
          pattern: optionNamed(member.name),
        }))
      }),
    ),
  )
}

/** Every name that an entry exports. */
export function exportedNames({ entries }: Reference): Fact[] {
  return entries.flatMap((entry) =>
    entry.exported.map(({ name }) => ({ name: `${entry.name} ${name}`, pattern: word(name) })),
  )
}

/** The routes of accounts, each by its path and by its name. */
export function authRoutes(): Fact[] {
  return unique(
    [accounts, ...ALL_PARTS.flatMap(({ methods }) => methods({} as never))]
      .flatMap(({ routes }) => routes)
      .flatMap(({ name, path }) => [
        { name, pattern: word(name) },
        { name: path, pattern: new RegExp(`${escaped(path)}(?![\\w/:-])`) },
      ]),
  )
}

/** What a list may be asked for, in a URL and in a QUERY body. */
export function listParameters(): Fact[] {
  const names = LIST_PARAMETERS.flatMap(({ name, key }) => [name, key])
  return unique(
    names.filter((name) => name !== undefined).map((name) => ({ name, pattern: word(name) })),
  )
}

const REFUSALS = ['http/errors', 'auth', 'uploads', 'guards', 'batch'].map(
  (part) => `src/${part}/refusals.ts`,
)
/** Stands for a value in a sentence. */
const HOLE = '\u0001'
const NUMBER = 987_654_321

/** Every sentence that a request is refused with. Values in it may be anything. */
export async function refusals(): Promise<Fact[]> {
  const project = new Project({ skipFileDependencyResolution: true })
  const facts = await Promise.all(
    REFUSALS.map(async (file) => {
      const made = (await import(join(root, file))) as Refusals
      return (
        project
          .addSourceFileAtPath(join(root, file))
          .getVariableDeclarations()
          .map((declaration) => messageOf(declaration, made))
          // One without words of its own gives another's.
          .filter((message) => message.replace(HOLE, '').trim() !== '')
          .map(sentence)
      )
    }),
  )
  return unique([...facts.flat(), ...elsewhere()])
}

type Refusals = Readonly<Record<string, (...values: unknown[]) => Error>>

/** What an exported refusal says, with holes for its values. */
function messageOf(declaration: VariableDeclaration, made: Refusals): string {
  const refuse = declaration.getInitializer()
  if (!declaration.isExported() || !Node.isArrowFunction(refuse)) return ''
  const values = refuse.getParameters().map((one) => sample(one.getTypeNode()?.getText() ?? ''))
  return made[declaration.getName()]?.(...values).message ?? ''
}

/** Sentences that stand where they are thrown. */
function elsewhere(): Fact[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !REFUSALS.includes(file))
  return files.flatMap((file) =>
    [...read(file).matchAll(/new HttpError\(\s*\d{3},\s*(['`])(.+?)\1/g)].map(([, , text = '']) =>
      sentence(text.replace(/\$\{[^}]*\}/g, HOLE)),
    ),
  )
}

function sample(type: string): unknown {
  if (type === 'number') return NUMBER
  if (type === 'string') return HOLE
  if (type.endsWith('[]')) return [HOLE]
  return type.startsWith('Readonly<Record') ? { [HOLE]: HOLE } : undefined
}

function sentence(message: string): Fact {
  const [first = '', ...rest] = message.replaceAll(String(NUMBER), HOLE).split(HOLE)
  const pattern = [first, ...rest].map((part) => escaped(part)).join('[^\\n]+?')
  const name = [first, ...rest].join('<…>')
  return { name, pattern: new RegExp(pattern) }
}

/** Every environment variable that a source file reads. */
export function environment(): Fact[] {
  const files = globSync('{src,extras,adapters,examples}/**/*.ts', { cwd: root })
  const names = files.flatMap((file) => {
    const code = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    if (!/\benv\b/.test(code)) return []
    const asked = code.matchAll(/\benv\.([A-Z][A-Z0-9_]*)\b/g)
    const named = code.matchAll(/'((?!ERR_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g)
    return [...asked, ...named].map(([, name = '']) => name)
  })
  return [...new Set(names)].toSorted().map((name) => ({ name, pattern: word(name) }))
}

/** The commands of the package. */
export function commands(): Fact[] {
  const { bin } = JSON.parse(read('package.json')) as { readonly bin: Record<string, string> }
  const [, list = ''] =
    /const COMMANDS = \{([\s\S]*?)\n\}/.exec(read('adapters/cli/fieldgate.ts')) ?? []
  const names = [...list.matchAll(/^ {2}(\w+): \{/gm)].map(([, name]) => `fieldgate ${name}`)
  return [...Object.keys(bin), ...names].map((name) => ({ name, pattern: word(name) }))
}

/** The imports that the package offers. */
export function imports(): Fact[] {
  return Object.keys(readNames('package.json').exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.replace('.', 'fieldgate'))
    .map((name) => ({ name, pattern: word(name) }))
}

/** What a page quotes of start-up errors and of the log, with what varies in quotes. */
export function quoted(page: string): string[] {
  const logged = page.matchAll(/"level": ?"\w+", ?"message": ?"((?:[^"\\]|\\.)+)"/g)
  const sentences = page.matchAll(/`((?:Model|Router|Auth router|Auth:|'\w+' \w).*?)`/g)
  const warnings = page
    .split(/^\| warning \|.*$/m)
    .slice(1)
    .join()
    .matchAll(/^\| `(.+?)` \|/gm)
  return [...logged, ...sentences, ...warnings].map(([, found = '']) =>
    found.replaceAll('\\"', '"'),
  )
}

/** Whether some source says so, as far as that does not vary. */
export function isSaid(message: string): boolean {
  const constant = message.split(/'[^']*'|"[^"]*"|<.*?>|\/[\w/:]+|[\d,.:;?=()[\]{}…]+/)
  const parts = constant.map((part) => part.trim().split(/\s+/)).filter((words) => words.length > 2)
  return parts.every((words) => {
    // One of the words may be a value without quotes.
    const variants = [words, ...words.map((_, at) => words.with(at, HOLE))]
    return variants.some((variant) => SOURCES.includes(variant.join(' ')))
  })
}

/** The sources without comments, with holes for the values in their sentences. */
const SOURCES = globSync('{src,extras,adapters,examples}/**/*.ts', { cwd: root })
  .map(read)
  .join('\n')
  .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
  .replaceAll("\\'", "'")
  .replace(/\$\{[^}]*\}/g, HOLE)

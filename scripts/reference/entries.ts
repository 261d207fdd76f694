/**
 * What the entries of package.json's `exports` export, read with the TypeScript of ts-morph.
 *
 * @module
 */

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ClassDeclaration,
  type FunctionDeclaration,
  type InterfaceDeclaration,
  Node,
  Project,
  type TypeAliasDeclaration,
  type VariableDeclaration,
} from 'ts-morph'
import { onDeno, readNames } from '../entries.ts'
import { moduleComment } from './comments.ts'

export type Declaration =
  | FunctionDeclaration
  | InterfaceDeclaration
  | TypeAliasDeclaration
  | ClassDeclaration
  | VariableDeclaration

/** One name of an entry. */
export interface Exported {
  readonly name: string
  /** The overloads of a function, otherwise one. */
  readonly declarations: readonly Declaration[]
  /** The file that declares it, relative to the repository. */
  readonly file: string
}

/** One entry of `exports`. */
export interface Entry {
  /** As you import it: `fieldgate/node`. */
  readonly name: string
  readonly page: string
  /** What its module comment says. */
  readonly comment: string
  readonly exported: readonly Exported[]
  /** Types that its own names mention and that no entry exports. */
  readonly mentioned: readonly Exported[]
}

/** All entries, and the page that describes each name. */
export interface Reference {
  readonly entries: readonly Entry[]
  /** The page of a declaration; undefined where it is described nowhere. */
  pageOf(declaration: Node): string | undefined
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Reads the sources that `exports` names. */
export function readEntries(): Reference {
  const { exports } = onDeno(readNames('package.json'))
  const project = projectOf()
  const sources = Object.entries(exports).map(([name, file]) => {
    const source = project.addSourceFileAtPath(`${root}${file}`)
    return { name: name.replace('.', 'fieldgate'), source }
  })
  project.resolveSourceFileDependencies()

  const read = sources.map(({ name, source }) => {
    const exported = [...source.getExportedDeclarations()]
      .map(([exportedName, found]) => nameOf(exportedName, found as Declaration[]))
      .toSorted(byName)
    const page = `${name.replace('fieldgate/', '')}.md`
    return { name, page, comment: moduleComment(source.getFullText()), exported }
  })

  // A name of several entries is described once: a port's type with the ports, anything else with the first entry.
  const home = new Map<Node, string>()
  for (const { page, exported } of read) {
    for (const one of exported) {
      const [declaration] = one.declarations
      const isPort = page === 'ports.md' && one.file.startsWith('src/ports/')
      if (declaration && (isPort || !home.has(declaration))) home.set(declaration, page)
    }
  }
  const entries = read.map((entry) => {
    const own = entry.exported.filter(
      ({ declarations: [one] }) => one && home.get(one) === entry.page,
    )
    return { ...entry, mentioned: mentionedBy(own, home, entry.page) }
  })
  return { entries, pageOf: (declaration) => home.get(declaration) }
}

function projectOf(): Project {
  return new Project({
    tsConfigFilePath: `${root}tsconfig.json`,
    skipAddingFilesFromTsConfig: true,
    skipFileDependencyResolution: true,
  })
}

function nameOf(name: string, declarations: readonly Declaration[]): Exported {
  const [first] = declarations
  const path = first?.getSourceFile().getFilePath() ?? ''
  return { name, declarations, file: path.replace(root, '') }
}

function byName(one: Exported, other: Exported): number {
  return one.name < other.name ? -1 : 1
}

/** Types without an entry, which readers meet in signatures all the same. They are given the page that mentions them. */
function mentionedBy(own: readonly Exported[], home: Map<Node, string>, page: string): Exported[] {
  const found: Exported[] = []
  for (const declaration of own.flatMap(({ declarations }) => declarations)) {
    // The members of a base are listed with those that extend it.
    const bases = basesOf(declaration)
    for (const type of typesIn(declaration)) {
      if (home.has(type) || bases.includes(type)) continue
      home.set(type, page)
      found.push(nameOf(type.getName(), [type]))
    }
  }
  return found.toSorted(byName)
}

function basesOf(declaration: Node): readonly Node[] {
  return Node.isInterfaceDeclaration(declaration) ? declaration.getBaseDeclarations() : []
}

/** The types of this repository that a declaration names where a reader sees it: not in bodies. */
export function typesIn(declaration: Node): (InterfaceDeclaration | TypeAliasDeclaration)[] {
  const references = declaration
    .getDescendants()
    .filter((node) => Node.isTypeReference(node) || Node.isExpressionWithTypeArguments(node))
    .filter((node) => !isInside(node, declaration))
  const types = references.flatMap((node) => {
    const name = Node.isTypeReference(node) ? node.getTypeName() : node.getExpression()
    const symbol = name.getSymbol()
    return (symbol?.getAliasedSymbol() ?? symbol)?.getDeclarations() ?? []
  })
  return [...new Set(types)].filter(
    (type): type is InterfaceDeclaration | TypeAliasDeclaration =>
      (Node.isInterfaceDeclaration(type) || Node.isTypeAliasDeclaration(type)) && isOurs(type),
  )
}

/** Whether a type stands where nobody outside sees it: in a body, or in a private member. */
function isInside(node: Node, declaration: Node): boolean {
  const hidden = node.getFirstAncestor(
    (above) =>
      above === declaration ||
      Node.isBlock(above) ||
      ((Node.isPropertyDeclaration(above) || Node.isMethodDeclaration(above)) &&
        above.getScope() === 'private'),
  )
  return hidden !== declaration
}

/** Whether a declaration is this repository's, not a library's. */
export function isOurs(declaration: Node): boolean {
  const folder = dirname(declaration.getSourceFile().getFilePath())
  return ['src', 'extras', 'adapters'].some((top) => folder.startsWith(`${root}${top}`))
}

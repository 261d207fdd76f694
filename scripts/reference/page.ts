/**
 * The pages of the reference as Markdown.
 *
 * @module
 */

import { type ClassDeclaration, type InterfaceDeclaration, Node } from 'ts-morph'
import { commentOf, optionComment } from './comments.ts'
import { type Declaration, type Entry, type Exported, type Reference, typesIn } from './entries.ts'
import { type Member, membersOf } from './members.ts'
import { oneLine, signatureOf } from './signature.ts'

const NOTE =
  '<!-- Written by `npm run reference` from the doc comments in the sources. Change those, not this page. -->'

/** The groups of the main entry, by the folder in src. */
const GROUPS: Readonly<Record<string, string>> = {
  app: 'Apps',
  model: 'Models',
  records: 'Routers and records',
  auth: 'Accounts',
  uploads: 'Uploads',
  cache: 'Cache',
  http: 'Requests, responses and errors',
  ports: 'Ports',
}

type Links = ReadonlyMap<string, string>

/** The list of all entries. */
export function indexPage({ entries }: Reference): string {
  const rows = entries.map(({ name, page, comment, exported }) => {
    const values = exported.filter(({ declarations: [one] }) => one && isValue(one))
    const names = values.map((one) => `\`${one.name}\``).join(', ')
    return `| [\`${name}\`](${page}) | ${cell(firstSentence(comment))} | ${names} |`
  })
  return `${NOTE}

# Reference

Every import of the package, with each function, class, type and option. The chapters of the manual explain how to use them.

| Import | What it is | Functions and classes |
| --- | --- | --- |
${rows.join('\n')}
`
}

/** The page of one entry. */
export function pageOf(entry: Entry, reference: Reference): string {
  const own = entry.exported.filter(
    ({ declarations: [one] }) => one && reference.pageOf(one) === entry.page,
  )
  const elsewhere = entry.exported.filter((one) => !own.includes(one))
  const section = (one: Exported, level: string) => describe(one, level, entry, reference)
  const parts = [`${NOTE}\n\n# ${entry.name}`, entry.comment]
  if (entry.name === 'fieldgate') {
    parts.push(
      ...Object.entries(GROUPS).flatMap(([folder, title]) => {
        const members = own.filter(({ file }) => file.startsWith(`src/${folder}/`))
        return members.length === 0
          ? []
          : [`## ${title}`, ...ordered(members).map((one) => section(one, '###'))]
      }),
    )
  } else parts.push(...ordered(own).map((one) => section(one, '##')))
  if (elsewhere.length > 0) {
    const names = elsewhere.map((one) => linkTo(one, reference))
    parts.push('## Also exported here', `Described elsewhere: ${names.join(', ')}.`)
  }
  if (entry.mentioned.length > 0) {
    parts.push(
      '## Types without an export',
      'The signatures above mention these types. You cannot import them; TypeScript infers them.',
    )
    parts.push(...entry.mentioned.map((one) => section(one, '###')))
  }
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** Functions and constants first, then classes, then types. */
function ordered(exported: readonly Exported[]): Exported[] {
  return exported.toSorted((one, other) => rankOf(one) - rankOf(other))
}

function rankOf({ declarations: [one] }: Exported): number {
  if (Node.isClassDeclaration(one)) return 1
  return one && isValue(one) ? 0 : 2
}

function isValue(declaration: Declaration): boolean {
  return !Node.isInterfaceDeclaration(declaration) && !Node.isTypeAliasDeclaration(declaration)
}

function describe(one: Exported, level: string, entry: Entry, reference: Reference): string {
  const [declaration] = one.declarations
  if (!declaration) return ''
  const documented = Node.isVariableDeclaration(declaration)
    ? declaration.getVariableStatementOrThrow()
    : declaration
  const parts = [`${level} ${one.name}`]
  const signature = one.declarations.map(signatureOf).join('\n')
  const isPlain = signature === `interface ${one.name}`
  if (!isPlain) parts.push(`\`\`\`ts\n${signature}\n\`\`\``)
  parts.push(commentOf(documented))
  const isTable = Node.isInterfaceDeclaration(declaration) || Node.isClassDeclaration(declaration)
  const types = isTable ? [] : one.declarations.flatMap(typesIn)
  const links = types.filter((type) => type !== declaration && reference.pageOf(type))
  if (links.length > 0) {
    const names = [...new Set(links)].map((type) =>
      linked(type.getName(), reference.pageOf(type) ?? '', entry.page),
    )
    parts.push(`See ${names.join(', ')}.`)
  }
  if (isTable) {
    const links = linksIn(declaration, entry, reference)
    parts.push(tableOf(one.name, membersOf(declaration), links))
  }
  return parts.filter(Boolean).join('\n\n')
}

/** Links to the types that a declaration and its bases name. */
function linksIn(
  declaration: InterfaceDeclaration | ClassDeclaration,
  entry: Entry,
  reference: Reference,
): Map<string, string> {
  const bases = Node.isInterfaceDeclaration(declaration) ? declaration.getBaseDeclarations() : []
  const types = [declaration, ...bases].flatMap(typesIn)
  return new Map(
    types.flatMap((type) => {
      const page = reference.pageOf(type)
      return page ? [[type.getName(), linked(type.getName(), page, entry.page)] as const] : []
    }),
  )
}

/** Options have a column for defaults; other members have none. */
function tableOf(name: string, members: readonly Member[], links: Links): string {
  if (members.length === 0) return ''
  const isOptions = areOptions(name, members)
  const rows = members.map((member) =>
    isOptions ? optionRow(member, links) : memberRow(member, links),
  )
  const head = isOptions ? ['Option', 'Type', 'Default', 'Meaning'] : ['Member', 'Type', 'Meaning']
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`.replace(/ {2,}\|/g, ' |')
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Whether a type is one that users write, so that its members are options. */
export function areOptions(name: string, members: readonly Member[]): boolean {
  return (
    /Options$|Definition$/.test(name) ||
    members.some(({ comment }) => optionComment(comment).fallback !== '')
  )
}

function optionRow(member: Member, links: Links): string[] {
  const { meaning, fallback } = optionComment(member.comment)
  const other = fallback || (member.isOptional ? '' : 'required')
  return [`\`${member.name}\``, code(member.type, links), cell(other), cell(meaning)]
}

function memberRow(member: Member, links: Links): string[] {
  const mark = member.isOptional && !member.isMethod ? '?' : ''
  return [`\`${member.name}${mark}\``, code(member.type, links), cell(member.comment)]
}

/** A type in a table; one that is a name alone leads to its description. */
function code(type: string, links: Links): string {
  const link = links.get(type.replace(/^readonly |\[\]$|<.*>$/g, ''))
  if (link) return link.replace(/`[^`]*`/, () => `\`${type}\``)
  return `\`${type.replaceAll('|', '\\|')}\``
}

function linked(name: string, page: string, from: string): string {
  return `[\`${name}\`](${page === from ? '' : page}#${name.toLowerCase()})`
}

function linkTo({ name, declarations: [one] }: Exported, reference: Reference): string {
  return one ? linked(name, reference.pageOf(one) ?? '', '') : `\`${name}\``
}

/** A comment in a table: one line, in which no character ends the cell. */
function cell(comment: string): string {
  return oneLine(comment.replace(/```\w*/g, '`')).replace(/(?<!\\)\|/g, '\\|')
}

function firstSentence(comment: string): string {
  return /^[\s\S]*?[.](?=\s|$)/.exec(comment)?.[0] ?? comment
}

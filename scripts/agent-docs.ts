/**
 * The manual for coding agents, made from its chapters: `llms.txt` with what each page is about, `llms-full.txt` with all of
 * them, and `skills/`, a few sections for each kind of work. `npm run build` writes them into the package, `npm run docs`
 * onto the site; they are not in the repository.
 *
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
/** Where pages are, seen from a skill in the package: `skills/<name>/SKILL.md`. */
const DOCS = '../../docs/'

/** A skill: when to use it, and what of the manual it consists of. */
interface Skill {
  readonly description: string
  /** Pages; after `#` the sections of it, by their headings, else the beginning and all sections. */
  readonly from: readonly string[]
}

/** The skills. A line more is a skill more; a test says if a section has gone. */
export const SKILLS: Readonly<Record<string, Skill>> = {
  model: {
    description:
      'Define data models for a fieldgate REST API with zod: fields, references, unique fields, indexes, hidden fields, and what writes do. Use when adding or changing models, routers or hooks.',
    from: [
      'models.md#Fields#Optional, nullable, default#References#Unique fields#What a value may become#Indexes#Hidden fields',
      "writing.md#What clients can't write#What happens to a write, in order#validate#Extra routes",
    ],
  },
  query: {
    description:
      'Query records of a fieldgate REST API: filters, search, sort, pages, HTTP QUERY, select, expand and aggregates, and the router options that allow them. Use when building lists or reading records.',
    from: [
      'lists.md#What a router allows#Pages#QUERY#Select#Expand',
      'aggregates.md#What a router allows#The body',
    ],
  },
  access: {
    description:
      'Decide who may do what in a fieldgate app: guards, access by route, owners, scopes, fields by reader, and the audit. Use when protecting routes or reviewing permissions.',
    from: [
      'access.md#Options#Guards#Audit#Public routers#ownedBy#scope#fieldsFor#What protects you by default',
    ],
  },
  accounts: {
    description:
      'Add accounts to a fieldgate app: sign-up, sign-in, the user model, verification, passwords, roles and API keys. Use when an app needs users.',
    from: [
      'accounts.md#Start#What you get#The user model#Options',
      'roles.md',
      'methods.md#API keys',
    ],
  },
  live: {
    description:
      'Follow records of a fieldgate app as they change: the log of changes, live lists over server-sent events, histories, consumers and webhooks. Use when a page must stay up to date, or other systems must be told.',
    from: [
      'changes.md#What is in it#What is promised',
      "live-lists.md#Going on after a break#Which rules hold#What is promised, and what isn't#The typed client",
      'consumers.md',
      'webhooks.md',
    ],
  },
  deploy: {
    description:
      'Deploy a fieldgate app on Node, Deno, Bun, Cloudflare Workers, AWS Lambda or Docker. Use when an app goes to production.',
    from: [
      'deploy-node.md#Options of serve#A proxy in front#Checklist',
      'deploy-workers.md#Deploy#The settings#Limits on Workers',
      'deploy-deno.md',
      'deploy-bun.md',
      'deploy-lambda.md',
    ],
  },
  migrate: {
    description:
      'Change the models of a running fieldgate app, or move a service of Express and Mongoose to fieldgate. Use when fields are renamed, added or dropped, or when porting an existing API.',
    from: [
      'changing-models.md',
      'migrate.md#1. Say what will change#3. Accounts#Back',
      "mongoose.md#Step by step#What isn't carried over",
    ],
  },
}

/** All files, by their paths in the package. */
export function agentDocs(): ReadonlyMap<string, string> {
  const index = pageOf('index.md')
  const pages = [...index.matchAll(/\[[^\]]+\]\(([\w-]+\.md)\)/g)].map(([, page = '']) => page)
  const skills = Object.entries(SKILLS).map(
    ([name, skill]) => [`skills/${name}/SKILL.md`, skillOf(name, skill)] as const,
  )
  return new Map([
    ['llms.txt', overview(index)],
    ['llms-full.txt', [...new Set(pages)].map(pageOf).join('\n')],
    ...skills,
  ])
}

/** Writes the files into `folder`. */
export function writeAgentDocs(folder: string): void {
  for (const [path, text] of agentDocs()) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** A page without what tests alone read. */
function pageOf(page: string): string {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  return text.replace(/<!--[^]*?-->\n*/g, '').replace(/^(```\w+)(?: no-run)$/gm, '$1')
}

/** The index as https://llmstxt.org wants it: a title, what it is about, and a list of links under each heading. */
function overview(index: string): string {
  const skills = Object.entries(SKILLS).map(
    ([name, { description }]) => `- [${name}](skills/${name}/SKILL.md): ${description}`,
  )
  return `${index
    .replace(/^# .+\n\n/, '# fieldgate\n\n> ')
    .replace(/^\d+\. /gm, '- ')
    .replace(/\]\(((?:reference\/)?[\w-]+\.md)\)/g, '](docs/$1)')
    .trimEnd()}\n\n## Skills\n\n${skills.join('\n')}\n`
}

function skillOf(name: string, { description, from }: Skill): string {
  const parts = from.map((one) => {
    const [page = '', ...titles] = one.split('#')
    const [intro = '', ...sections] = sectionsOf(pageOf(page))
    const found = titles.map((title) => {
      const section = sections.find((text) => text.startsWith(`### ${title}\n`))
      if (section) return section
      throw new Error(`skill '${name}': docs/${page} has no section '${title}'`)
    })
    const text = [intro, ...(titles.length > 0 ? found : sections)].join('')
    const more = titles.length > 0 ? `The rest of this chapter is in ${DOCS}${page}.\n` : ''
    return `${linksFrom(page, text).trimEnd()}\n\n${more}`
  })
  const head = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`
  const manual = `The whole manual is in ${DOCS}, error messages in ${DOCS}errors.md.`
  return `${head}\n# fieldgate: ${name}\n\n${manual}\n\n${parts.join('\n').trimEnd()}\n`
}

/** A page's beginning and its sections, their headings a level lower; `#` in blocks of code is none. */
function sectionsOf(text: string): string[] {
  const sections = ['']
  let isCode = false
  for (const line of text.split(/(?<=\n)/)) {
    if (line.startsWith('```')) isCode = !isCode
    const isHeading = !isCode && line.startsWith('#')
    if (isHeading && line.startsWith('## ')) sections.push('')
    sections[sections.length - 1] += isHeading ? `#${line}` : line
  }
  return sections
}

/** Links lead to the pages from where the skill is. */
function linksFrom(page: string, text: string): string {
  return text
    .replace(/\]\((?=#)/g, `](${DOCS}${page}`)
    .replace(/\]\((?!\w+:|\.\.\/\.\.\/docs)(?:\.\/)?(?=[\w.])/g, `](${DOCS}`)
}

if (argv[1] === fileURLToPath(import.meta.url)) writeAgentDocs(root)

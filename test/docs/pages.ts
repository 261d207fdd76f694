/**
 * The pages of the manual, and what tests read from them: blocks of code, headings and links.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { slugify } from '../../scripts/site/slugify.ts'

/** A block of code with its fences, the indentation of a list included. */
const BLOCK = /^([ \t]*)(`{3,}|~{3,})([^\n`]*)\n([^]*?)(?<=\n)\1\2[`~]*[ \t]*$/gm

/** The repository's folder. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url))

/** One block of code. */
export interface Block {
  readonly page: string
  /** The line of its first fence. */
  readonly line: number
  readonly language: string
  /** The words after the language: `no-run`. */
  readonly words: readonly string[]
  readonly text: string
}

/** The README and the chapters, without the generated reference. Paths are relative to the repository. */
export function manual(): string[] {
  return ['README.md', ...chapters().filter((page) => !page.startsWith('docs/reference/'))]
}

/** Every page below docs. */
export function chapters(): string[] {
  const pages = globSync('docs/**/*.md', { cwd: root })
  return pages.filter((page) => !page.startsWith('docs/.')).toSorted()
}

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** The blocks of a page in order, those in HTML comments too: they are for tests alone. */
export function blocksOf(page: string, text: string = textOf(page)): Block[] {
  return [...text.matchAll(BLOCK)].map((found) => {
    const [, indent = '', , info = '', inside = ''] = found
    const [language = '', ...words] = info.trim().split(/\s+/)
    const line = text.slice(0, found.index).split('\n').length
    return { page, line, language, words, text: inside.replace(new RegExp(`^${indent}`, 'gm'), '') }
  })
}

/** The page with its blocks of code blanked out, line by line. */
export function proseOf(text: string): string {
  return text.replace(BLOCK, (block) => '\n'.repeat(block.split('\n').length - 1))
}

/** What `#…` may lead to on a page, by GitHub's rule, which the site follows too. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, title = ''] of proseOf(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = slugOf(title)
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  for (const [, id = ''] of text.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

/** GitHub's anchor of a heading. */
export function slugOf(title: string): string {
  return slugify(
    title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[*~]/g, '')
      .replace(/(?<=^|\s)_([^_]+)_(?=\s|$)/g, '$1'),
  )
}

/** The targets of the links and images of a page, with their lines. */
export function linksOf(text: string): { readonly target: string; readonly line: number }[] {
  return proseOf(text)
    .split('\n')
    .flatMap((line, index) => {
      const prose = line.replace(/`+[^`]*`+/g, (code) => 'x'.repeat(code.length))
      const inline = prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)
      const defined = prose.matchAll(/^\s*\[[^\]]+\]:\s+(\S+)/g)
      return [...inline, ...defined].map(([, target = '']) => ({ target, line: index + 1 }))
    })
}

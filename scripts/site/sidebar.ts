/**
 * The order of the chapters: that of the links in docs/index.md, under its headings.
 *
 * @module
 */

import { existsSync, globSync, readFileSync } from 'node:fs'
import type { DefaultTheme } from 'vitepress'

type Item = DefaultTheme.SidebarItem

/** The sidebar for the pages in `folder`. */
export function sidebar(folder: string): Item[] {
  const index = `${folder}index.md`
  const groups = existsSync(index) ? groupsOf(readFileSync(index, 'utf8')) : []
  const named = new Set(groups.flatMap(({ items = [] }) => items.map(({ link }) => link)))
  const others = globSync('*.md', { cwd: folder })
    .toSorted()
    .map((page) => ({ text: titleOf(`${folder}${page}`), link: linkTo(page) }))
    .filter(({ link }) => link !== '/' && !named.has(link))
  const rest = others.length > 0 ? [{ text: 'More', items: others }] : []
  return [...groups, ...rest, reference(folder)]
}

/** A group for each heading with links to chapters, in their order. */
export function groupsOf(index: string): Item[] {
  const seen = new Set<string>()
  return index
    .split(/^#{1,2} /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n', 1)
      const links = section.matchAll(/\[([^\]]+)\]\((?:\.\/)?([\w-]+\.md)\)/g)
      const items = [...links].flatMap(([, text = '', page = '']) => {
        if (seen.has(page)) return []
        seen.add(page)
        return [{ text: text.replaceAll('`', ''), link: linkTo(page) }]
      })
      return { text: title, items }
    })
    .filter(({ items }) => items.length > 0)
}

function reference(folder: string): Item {
  const index = readFileSync(`${folder}reference/index.md`, 'utf8')
  const entries = [...index.matchAll(/^\| \[`([^`]+)`\]\((.+?)\.md\)/gm)]
  return {
    text: 'Exports',
    link: '/reference/',
    collapsed: true,
    items: entries.map(([, text = '', page]) => ({ text, link: `/reference/${page}` })),
  }
}

function linkTo(page: string): string {
  return `/${page.replace(/(?:^index)?\.md$/, '')}`
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll('`', '') ?? file
}

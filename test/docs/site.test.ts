import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { groupsOf, sidebar } from '../../scripts/site/sidebar.ts'
import { chapters, root, textOf } from './pages.ts'

describe('the sidebar of the site', () => {
  it('has the links of docs/index.md, in their order, under its headings', () => {
    const index = [
      '# Manual\n\nRead [the README](../README.md) first.\n',
      '## Start\n\n1. [Getting started](getting-started.md): from nothing\n2. [`app.store`](./app-store.md)\n',
      '## Nothing here\n',
      '## More\n\n| [Limits](limits.md#all) | x |\n| [Limits](limits.md) | [again](getting-started.md) |\n',
    ].join('\n')
    expect(groupsOf(index)).toEqual([
      {
        text: 'Start',
        items: [
          { text: 'Getting started', link: '/getting-started' },
          { text: 'app.store', link: '/app-store' },
        ],
      },
      { text: 'More', items: [{ text: 'Limits', link: '/limits' }] },
    ])
  })

  it('has every page', () => {
    const groups = sidebar(join(root, 'docs/'))
    const links = groups.flatMap(({ link, items = [] }) => [
      link,
      ...items.map((item) => item.link),
    ])
    const missing = chapters().filter((page) => {
      const link = page.replace('docs', '').replace(/(?:index)?\.md$/, '')
      return link !== '/' && !links.includes(link)
    })
    expect(missing).toEqual([])
  })

  it('leaves no page to "More", once there is an index', () => {
    const index = existsSync(join(root, 'docs/index.md')) ? textOf('docs/index.md') : undefined
    const named = groupsOf(index ?? '').flatMap(({ items = [] }) => items)
    const links = named.map(({ link }) => `docs${link}.md`)
    const forgotten = chapters()
      .filter((page) => index !== undefined && /^docs\/[\w-]+\.md$/.test(page))
      .filter((page) => page !== 'docs/index.md' && !links.includes(page))
    expect(forgotten, 'pages that docs/index.md does not link').toEqual([])
  })
})

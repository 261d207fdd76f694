/** What coding agents read: llms.txt, llms-full.txt and skills, all of it made from the manual. */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { agentDocs, SKILLS } from '../../scripts/agent-docs.ts'
import { blocksOf, chapters, manual, root, textOf } from './pages.ts'

const files = agentDocs()
const skills = [...files].filter(([path]) => path.startsWith('skills/'))

describe('llms.txt', () => {
  it('has a title, what fieldgate is, and links to every chapter and skill', () => {
    const text = files.get('llms.txt') ?? ''
    expect(text).toMatch(/^# fieldgate\n\n> \S/)
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path)
    const wanted = chapters().filter((page) => !/^docs\/(?:index|reference\/.*)\.md$/.test(page))
    expect(wanted.filter((page) => !links.includes(page))).toEqual([])
    expect(links.filter((path) => !files.has(path) && !existsSync(join(root, path)))).toEqual([])
  })

  it('has the whole manual beside it, without what tests alone read', () => {
    const full = files.get('llms-full.txt') ?? ''
    const titles = chapters()
      .filter((page) => !page.startsWith('docs/reference/') && page !== 'docs/index.md')
      .map((page) => /^# .+$/m.exec(textOf(page))?.[0] ?? page)
    expect(titles.filter((title) => !full.includes(`${title}\n`))).toEqual([])
    expect(full).not.toContain('<!--')
  })
})

describe.each(skills)('%s', (path, text) => {
  it('says by which name and for what it is, as the format demands', () => {
    const [, head = ''] = /^---\n([^]*?)\n---\n/.exec(text) ?? []
    const { name, description } = parse(head) as { name: string; description: string }
    expect(name).toBe(dirname(path).replace('skills/', ''))
    expect(name).toMatch(/^(?!-)[a-z0-9-]{1,64}(?<!-)$/)
    expect(description).toMatch(/Use when /)
    expect(description.length).toBeLessThanOrEqual(1024)
    expect(text.split('\n').length).toBeLessThanOrEqual(500)
  })

  it('has blocks of the manual alone, which its tests run', () => {
    const known = new Set(manual().flatMap((page) => blocksOf(page).map((block) => block.text)))
    const own = blocksOf(path, text)
    expect(own.length).toBeGreaterThan(3)
    expect(own.filter((block) => !known.has(block.text))).toEqual([])
  })

  it('leads to pages that there are', () => {
    const links = [...text.matchAll(/\]\((?!\w+:)([^)#]*)/g)].map(([, link = '']) => link)
    const files = links.map((link) => join(root, dirname(path), link))
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })
})

it('there is a skill for each kind of work', () => {
  expect(Object.keys(SKILLS)).toEqual([
    'model',
    'query',
    'access',
    'accounts',
    'live',
    'deploy',
    'migrate',
  ])
})

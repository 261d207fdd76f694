import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, root } from './pages.ts'
import { editionsOf } from './programs.ts'

const PAGE = 'docs/a-real-app.md'
const folder = join(root, 'examples/lending-club')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
/** The lines of code, without the comments that name files on the page. */
const codeOf = (text: string) =>
  text.split('\n').filter((line) => line.trim() !== '' && !/^\/\/ [\w.]+\.ts\b/.test(line))

describe('the page "A real app"', () => {
  const [edition, ...others] = editionsOf(PAGE)
  const programs = new Map([...(edition?.files ?? [])].map(([name, { text }]) => [name, text]))

  it('has the programs of the lending club, line by line', () => {
    expect(others).toEqual([])
    const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))
    expect([...programs.keys()].toSorted()).toEqual(names.toSorted())
    for (const [name, text] of programs) expect(codeOf(text), name).toEqual(codeOf(read(name)))
  })

  it.each(['public/index.html', 'Dockerfile', 'wrangler.toml'])('has its %s', (name) => {
    const found = blocksOf(PAGE).find(({ text }) => text.split('\n')[0]?.includes(` ${name}`))
    expect(found?.text.split('\n').slice(1).join('\n')).toBe(read(name))
  })

  it('says how long it is', () => {
    const [, server, page] = /server has (\d+) lines, and the page (\d+)/.exec(
      readFileSync(join(root, PAGE), 'utf8'),
    ) ?? [0, 0, 0]
    const lines = (name: string) => read(name).trimEnd().split('\n').length
    expect([Number(server), Number(page)]).toEqual([lines('club.ts'), lines('web.ts')])
  })
})

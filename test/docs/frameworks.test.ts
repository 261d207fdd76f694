import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { platforms } from '../package/frameworks/platforms.ts'
import { requests } from '../package/frameworks/requests.ts'
import { blocksOf, root, textOf } from './pages.ts'

const page = 'docs/frameworks.md'
const examples = join(root, 'examples/frameworks')
const blocks = blocksOf(page).filter(({ language }) => /^tsx?$/.test(language))

describe('the guides to frameworks', () => {
  it('show files of the examples, which the nightly run builds and asks', () => {
    expect(blocks.length).toBeGreaterThan(10)
    const others = blocks.filter(({ text }) => {
      const [header = '', ...lines] = text.split('\n')
      const path = header.replace('// ', '')
      const files = ['', ...Object.keys(platforms)].map((name) => join(examples, name, path))
      return !files.some(
        (file) => existsSync(file) && readFileSync(file, 'utf8') === lines.join('\n'),
      )
    })
    expect(others.map(({ line }) => `${page}:${line}`)).toEqual([])
  })

  it('say of each platform which requests it keeps from the app', () => {
    const [, head = '', ...rows] = /(\| {2}\|.*\n)\|.*\n((?:\| .*\n)+)/.exec(textOf(page)) ?? []
    const names = head.split('|').slice(2, -1)
    expect(names.map((name) => name.trim())).toEqual(Object.keys(platforms))
    const cells = rows
      .join('')
      .trim()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()))
    expect(cells.map(([, request]) => request)).toEqual(Object.keys(requests))
    for (const [, request = '', ...results] of cells) {
      for (const [at, { without = {} }] of Object.values(platforms).entries())
        expect(results[at] === 'yes', `${request} ${names[at]}`).toBe(
          without[request] === undefined,
        )
    }
  })
})

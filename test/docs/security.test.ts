/** The table of docs/security.md: its counts are those of its rows, and what it names as proof is there. */

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commonPasswords } from '../../adapters/passwords/common.ts'
import { root, textOf } from './pages.ts'

const page = textOf('docs/security.md')

/** A row of the tables. */
interface Row {
  readonly id: string
  readonly state: string
  readonly how: string
}

const rows: readonly Row[] = (page.match(/^\| \d+\.\d+\.\d+ \|.*$/gm) ?? []).map((line) => {
  const [id = '', , , state = '', how = ''] = line.slice(2, -2).split(' | ')
  return { id, state, how }
})

const STATES = ['met', 'not applicable', 'left to you', 'not met']

/** A test that a row names: its file or folder, and its title; undefined for the whole file. */
function namedIn({ how }: Row): { readonly path: string; readonly title?: string }[] {
  let path = ''
  return [...how.matchAll(/`(test\/[^`]+)`|"([^"]+)"/g)].flatMap(([, file, title]) => {
    if (file !== undefined) path = file
    return path === '' ? [] : [file === undefined && title ? { path, title } : { path }]
  })
}

/** The sources of a test, and of what it imports from beside it. */
function sourcesOf(path: string): string {
  const isFolder = statSync(join(root, path)).isDirectory()
  const files = isFolder ? globSync(`${path}/**/*.ts`, { cwd: root }) : [path]
  return files
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const beside = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, other = '']) =>
        join(root, dirname(file), other),
      )
      return [text, ...beside.filter(existsSync).map((other) => readFileSync(other, 'utf8'))]
    })
    .join('\n')
    .replaceAll("\\'", "'")
}

describe('the table of ASVS', () => {
  it('counts its rows by chapter and state', () => {
    const counted = (page.match(/^\| (?:V\d+ .*|all five) \|.*$/gm) ?? []).map((line) =>
      line.slice(2, -2).split(' | '),
    )
    expect(counted).toHaveLength(6)
    for (const [chapter = '', ...counts] of counted) {
      const number = /^V(\d+) /.exec(chapter)?.[1]
      const own = rows.filter(({ id }) => number === undefined || id.startsWith(`${number}.`))
      const inState = STATES.map((state) => own.filter((row) => row.state === state).length)
      expect([chapter, ...counts.map(Number)]).toEqual([chapter, ...inState, own.length])
    }
  })

  it('names tests that exist, by their titles', () => {
    const missing = rows.flatMap((row) =>
      namedIn(row).filter(({ path, title }) => {
        if (!existsSync(join(root, path))) return true
        return title !== undefined && !sourcesOf(path).includes(title)
      }),
    )
    expect(missing).toEqual([])
  })

  it('names a test for each requirement that is met', () => {
    const without = rows.filter((row) => row.state === 'met' && namedIn(row).length === 0)
    expect(without.map(({ id }) => id)).toEqual([])
  })

  it('says how many common passwords have ten characters or more', async () => {
    const { size } = await commonPasswords(10)
    expect(page).toContain(`(${size.toLocaleString('en')} entries)`)
  })
})

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Lines of `src` and `adapters` together, and of `extras`: what makes them fewer lowers it. */
const MOST_LINES = 74_952
const MOST_LINES_OF_EXTRAS = 5_967
/** Of the admin page and what serves it, without its styles. */
const MOST_LINES_OF_ADMIN = 7_575
const MOST_LINES_OF_A_FILE = 300

const root = fileURLToPath(new URL('../..', import.meta.url))
const linesOf = (folders: string, endings = 'ts') =>
  globSync(`${folders}/**/*.${endings}`, { cwd: root }).map((file) => ({
    file,
    count: readFileSync(`${root}/${file}`, 'utf8').split('\n').length - 1,
  }))
const core = linesOf('{src,adapters}')
const extras = linesOf('extras')
const admin = linesOf('packages/admin/src', '{ts,tsx}')
const sum = (files: typeof core) => files.reduce((all, { count }) => all + count, 0)

describe('the code of src and adapters', () => {
  it(`has at most ${MOST_LINES} lines`, () => {
    expect(sum(core)).toBeLessThanOrEqual(MOST_LINES)
  })

  it(`has at most ${MOST_LINES_OF_EXTRAS} lines beside it`, () => {
    expect(sum(extras)).toBeLessThanOrEqual(MOST_LINES_OF_EXTRAS)
  })

  it(`has at most ${MOST_LINES_OF_ADMIN} lines in the admin page`, () => {
    expect(sum(admin)).toBeLessThanOrEqual(MOST_LINES_OF_ADMIN)
  })

  it(`has at most ${MOST_LINES_OF_A_FILE} lines a file`, () => {
    const long = [...core, ...extras, ...admin].filter(({ count }) => count > MOST_LINES_OF_A_FILE)
    expect(long).toEqual([])
  })
})

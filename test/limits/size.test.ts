import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Lines of `src` and `adapters` together, and of `extras`: what makes them fewer lowers it. */
const MOST_LINES = 77_964
const MOST_LINES_OF_EXTRAS = 5_999
const MOST_LINES_OF_A_FILE = 300
/** Files that were longer when the limit came, with the lines that they may have until they are split. */
const LONGER: Readonly<Record<string, number>> = {
  'src/ports/store.ts': 406,
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const linesOf = (folders: string) =>
  globSync(`${folders}/**/*.ts`, { cwd: root }).map((file) => ({
    file,
    count: readFileSync(`${root}/${file}`, 'utf8').split('\n').length - 1,
  }))
const core = linesOf('{src,adapters}')
const extras = linesOf('extras')
const sum = (files: typeof core) => files.reduce((all, { count }) => all + count, 0)

describe('the code of src and adapters', () => {
  it(`has at most ${MOST_LINES} lines`, () => {
    expect(sum(core)).toBeLessThanOrEqual(MOST_LINES)
  })

  it(`has at most ${MOST_LINES_OF_EXTRAS} lines beside it`, () => {
    expect(sum(extras)).toBeLessThanOrEqual(MOST_LINES_OF_EXTRAS)
  })

  it(`has at most ${MOST_LINES_OF_A_FILE} lines a file`, () => {
    const long = [...core, ...extras].filter(
      ({ file, count }) => count > (LONGER[file] ?? MOST_LINES_OF_A_FILE),
    )
    expect(long).toEqual([])
  })
})

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, root, textOf } from '../docs/pages.ts'
import { startedWith } from './started.ts'

/** A row of the manual's table: the line, and what the compiler and the app say of it. */
const ROWS = textOf('docs/mistakes.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => (cell === '–' ? undefined : cell.slice(1, -1).replaceAll('\\|', '|'))),
  ) as unknown as readonly (readonly [string, string | undefined, string | undefined])[]

/** What the compiler prints, by the lines of the program. */
const printed = new Map<number, string>()
let [folder, before] = ['', 0]

beforeAll(async () => {
  const given = blocksOf('docs/mistakes.md')[0]?.text.trim() ?? ''
  before = given.split('\n').length
  mkdirSync(join(root, '.cache'), { recursive: true })
  folder = mkdtempSync(join(root, '.cache/mistakes-'))
  writeFileSync(join(folder, 'app.ts'), [given, ...ROWS.map(([line]) => line)].join('\n'))
  const compilerOptions = { noEmit: true, incremental: false, noUnusedLocals: false, rootDir: root }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['app.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, exclude: [] }))
  const text = await new Promise<string>((resolve) => {
    const tsc = join(root, 'node_modules/.bin/tsc')
    execFile(tsc, ['-p', folder], { maxBuffer: 1e7 }, (_, stdout) => resolve(stdout))
  })
  for (const message of text.split(/^(?=\S)/m)) {
    const [start = '', at] = /^.*app\.ts\((\d+),\d+\): error TS\d+: /.exec(message) ?? []
    printed.set(Number(at), message.slice(start.length).trim())
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Messages of functions in options are longer: their last line tells. */
const LONG = /onGet|fieldsFor|blockedFields/

describe('the manual tells what is said of', () => {
  it.each(ROWS.map((row, at) => [...row, at] as const))('%s', async (line, compiler, start, at) => {
    const said = printed.get(before + at + 1)
    if (compiler === undefined) expect(said).toBeUndefined()
    let rest = said ?? ''
    for (const part of compiler?.split('…') ?? []) {
      expect(rest).toContain(part.trim())
      rest = rest.slice(rest.indexOf(part.trim()))
    }
    if (!LONG.test(line)) expect(said?.split('\n').length ?? 0).toBeLessThanOrEqual(3)
    if (!line.startsWith('api(')) expect(await startedWith(line)).toBe(start)
    expect(compiler ?? start).toBeDefined()
  })

  it('at least 40 mistakes, and the program without them compiles', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(40)
    expect([...printed.keys()].filter((line) => line <= before)).toEqual([])
  })
})

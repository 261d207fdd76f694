import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { type Block, blocksOf, manual } from './pages.ts'
import { editionsOf, headerOf, isRun, mainFiles } from './programs.ts'
import { differenceOf, jsonIn, jsonValues } from './shape.ts'

/** Blocks that say `no-run`. Raise it only for what no test can run, such as a program for a paid service. */
const MOST_NOT_RUN = 7

const blocks = manual().flatMap((page) => blocksOf(page))
const placeOf = ({ page, line }: Block) => `${page}:${line}`
const INSTRUCTION =
  /^(?:ADD|ARG|CMD|COPY|ENTRYPOINT|ENV|EXPOSE|FROM|HEALTHCHECK|LABEL|RUN|SHELL|STOPSIGNAL|USER|VOLUME|WORKDIR) /

/** How blocks of a language are read; what throws is no such block. */
const PARSERS: Readonly<Record<string, (text: string) => void>> = {
  json: jsonValues,
  toml: parseToml,
  yaml: parseYaml,
  dockerfile: (text) => {
    const lines = text
      .replace(/\\\n/g, '')
      .split('\n')
      .filter((line) => !/^\s*(?:#|$)/.test(line))
    const wrong = lines.find((line) => !INSTRUCTION.test(line))
    if (wrong !== undefined || !lines.some((line) => line.startsWith('FROM '))) {
      throw new Error(`not an instruction: ${wrong ?? 'FROM is missing'}`)
    }
  },
}

describe('a block of code in the manual', () => {
  it('names its file in the first line when it is TypeScript', () => {
    const nameless = blocks.filter((block) => block.language === 'ts' && !headerOf(block))
    expect(nameless.map(placeOf)).toEqual([])
  })

  it('is TypeScript, not JavaScript', () => {
    const others = blocks.filter(({ language }) =>
      /^(?:js|javascript|typescript|mjs)$/.test(language),
    )
    expect(others.map(placeOf)).toEqual([])
  })

  it('parses when it is JSON, TOML, YAML or a Dockerfile', () => {
    const wrong = blocks.flatMap((block) => {
      try {
        PARSERS[block.language.toLowerCase()]?.(block.text)
        return []
      } catch (error) {
        return [`${placeOf(block)}: ${(error as Error).message}`]
      }
    })
    expect(wrong).toEqual([])
  })

  it('is seldom left out of the runs', () => {
    const left = blocks.filter((block) => !isRun(block)).map(placeOf)
    expect(left.length, left.join(', ')).toBeLessThanOrEqual(MOST_NOT_RUN)
  })
})

describe('the programs of a page', () => {
  const page = (...parts: string[]) => parts.join('\n')
  const block = (text: string, info = 'ts') => `\`\`\`${info}\n${text}\n\`\`\`\n`

  it('are put together from blocks of one name', () => {
    const text = page(
      block(`// app.ts\nimport { a } from 'x'\na()`),
      block(`// other.ts, on Deno\nimport './app.ts'`),
      block(`// app.ts, continued\nimport { a, b } from 'x'\nb()`),
    )
    const [edition, ...more] = editionsOf('page.md', text)
    expect(more).toEqual([])
    const app = edition?.files.get('app.ts')
    expect(app?.text).toBe(
      `// app.ts\nimport { a } from 'x'\na()\n// app.ts, continued\nimport { b } from 'x'\nb()\n`,
    )
    expect(app?.lines.slice(0, -1)).toEqual([2, 3, 4, 13, 14, 15])
    expect(edition?.files.get('other.ts')?.runtime).toBe('Deno')
    expect(mainFiles(edition?.files ?? new Map()).map(({ name }) => name)).toEqual([
      'app.ts',
      'other.ts',
    ])
  })

  it('begin anew with a new version of a file', () => {
    const text = page(block('// a.ts\n1'), block('// b.ts\n1'), block('// a.ts, on Bun\n2'))
    const editions = editionsOf('page.md', text)
    expect(editions.map(({ files }) => files.get('a.ts')?.text)).toEqual([
      '// a.ts\n1\n',
      '// a.ts, on Bun\n2\n',
    ])
    expect(editions[1]?.files.has('b.ts')).toBe(true)
  })

  it('run where they say, or where their imports can', () => {
    const runtimeOf = (text: string) =>
      editionsOf('page.md', block(text))[0]?.files.get('a.ts')?.runtime
    expect(runtimeOf('// a.ts\n')).toBe('Node')
    expect(runtimeOf('// a.ts, on Bun: bun a.ts\n')).toBe('Bun')
    expect(runtimeOf(`// a.ts\nimport { serve } from 'fieldgate/deno'`)).toBe('Deno')
    expect(runtimeOf('// a.ts\nexport default worker(() => app)')).toBe('Workers')
  })

  it('answer the commands after them', () => {
    const text = page(
      block('// app.ts\nconst app = createApp()'),
      block('curl localhost:3000/a', 'sh'),
      block('{}', 'json'),
      block('curl localhost:3000/b', 'sh no-run'),
    )
    const [edition] = editionsOf('page.md', text)
    expect(edition?.commands).toHaveLength(1)
    expect(edition?.commands[0]).toMatchObject({ program: 'app.ts', expected: '{}\n' })
  })
})

describe('what a page shows of a response', () => {
  const differs = (expected: unknown, actual: unknown) =>
    differenceOf(expected, actual, { seen: new Map(), mayBeEmpty: false })

  it('has the same keys and kinds of values', () => {
    const shown = { success: true, data: { _id: '6b03…', year: 1980 } }
    expect(differs(shown, { success: true, data: { _id: 'x', year: 3 } })).toBeUndefined()
    expect(differs(shown, { success: true, data: { _id: 'x' } })).toBe(
      'data has _id, the page has _id,year',
    )
    expect(differs(shown, { success: true, data: { _id: 'x', year: 'y' } })).toContain('data.year')
  })

  it('has the same errors', () => {
    expect(
      differs({ error: 'Not found.' }, { error: 'Not found.', requestId: 'x' }),
    ).toBeUndefined()
    expect(differs({ error: 'Not found.' }, { error: 'Gone.' })).toContain('error is "Gone."')
  })

  it('is found after headers, and several in a row', () => {
    expect(jsonIn('HTTP/1.1 200 OK\nETag: "x"\n\n{"a":1}{"b":[2]}')).toEqual([{ a: 1 }, { b: [2] }])
  })
})

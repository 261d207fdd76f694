import { afterAll, describe, expect, it } from 'vitest'
import { readEntries } from '../../scripts/reference/entries.ts'
import {
  authRoutes,
  commands,
  environment,
  exportedNames,
  type Fact,
  imports,
  isSaid,
  listParameters,
  options,
  quoted,
  refusals,
} from './facts.ts'
import { blocksOf, chapters, proseOf, textOf } from './pages.ts'

const pages = chapters()
const manual = pages.filter((page) => !page.startsWith('docs/reference/')).map(textOf)
/** What a reader sees as code: names are written so. */
const code = manual.flatMap((page) => [...spansIn(page), ...blocksIn(page)]).join('\n')
/** Code in sentences and tables, one a line. */
const spans = manual.flatMap(spansIn).join('\n')
const text = manual.join('\n')
const withReference = pages.map(textOf).join('\n')
const reference = readEntries()

const totals: string[] = []
afterAll(() => console.log(totals.join('\n')))

/** The names that stand nowhere. */
function missingIn(where: string, what: string, facts: readonly Fact[]): string[] {
  const missing = facts.filter(({ pattern }) => !pattern.test(where)).map(({ name }) => name)
  totals.push(`${facts.length - missing.length} of ${facts.length} ${what} are in the manual`)
  totals.push(...missing.map((name) => `  missing: ${name}`))
  // A list of nothing would pass for a list of everything.
  expect(facts.length).toBeGreaterThan(0)
  return missing
}

function spansIn(page: string): string[] {
  const found = proseOf(page).matchAll(/(`+)([^`]|[^`].*?[^`])\1(?!`)/gs)
  return [...found].map(([, , span = '']) => span)
}

function blocksIn(page: string): string[] {
  return blocksOf('', page).map(({ text: block }) => block)
}

describe('the manual names', () => {
  it('every option', () => {
    expect(missingIn(spans, 'options', options(reference))).toEqual([])
  })

  it('every route of accounts, by path and by name', () => {
    expect(missingIn(code, 'routes', authRoutes())).toEqual([])
  })

  it('every parameter of a list', () => {
    expect(missingIn(code, 'list parameters', listParameters())).toEqual([])
  })

  it('every sentence that a request is refused with', async () => {
    expect(missingIn(text, 'refusals', await refusals())).toEqual([])
  })

  it('every environment variable', () => {
    expect(missingIn(code, 'variables', environment())).toEqual([])
  })

  it('every command', () => {
    expect(missingIn(code, 'commands', commands())).toEqual([])
  })

  it('every import', () => {
    expect(missingIn(code, 'imports', imports())).toEqual([])
  })

  it('every exported name, in the reference at least', () => {
    expect(missingIn(withReference, 'exports', exportedNames(reference))).toEqual([])
  })
})

describe('what the manual quotes', () => {
  it('is what start-up errors and the log say', () => {
    const messages = manual.flatMap(quoted)
    totals.push(`${messages.length} messages are quoted`)
    expect(messages.length).toBeGreaterThan(0)
    expect(messages.filter((message) => !isSaid(message))).toEqual([])
  })

  it('and what nothing says is found', () => {
    expect(isSaid("Router '/cities': every field of 'City' is writable")).toBe(true)
    expect(isSaid("Router '/cities': every member of 'City' may be written")).toBe(false)
  })
})

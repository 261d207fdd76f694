/**
 * No regular expression of the product takes longer than its text is long: most of them meet what a client sent.
 */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { day, ofToday, runs } from '../runs.ts'
import {
  CHECKER,
  complaintAbout,
  type Found,
  type Judged,
  LIST,
  nameOf,
  productRegexes,
  regexesIn,
} from './regexes.ts'

const found = productRegexes()
/** The judgement of one is the same each time, and may take long: each has been judged once, when it was listed. */
const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Judged

/** Patterns that are put together when the code runs: the file, and why no text can hold them up. */
const MADE_AT_RUN_TIME: Readonly<Record<string, string>> = {
  'src/auth/setup/case-mapped.ts':
    'one class of characters is written once for all four; they meet at most 1,024 characters',
  'src/methods/api-keys/keys.ts':
    'begins with the prefix of keys, which is letters alone; the rest has no choice',
  'adapters/cli/upgrade.ts':
    'a name between two characters that belong to no name: nothing in it repeats',
  'src/openapi/schemas/texts.ts':
    'a pattern of a model is read as Unicode, once for the document, and matches nothing',
  'extras/mongoose/values.ts':
    "a schema's own `match`, for which its author answers, as for zod's regex()",
}

describe('the regular expressions of src and adapters', () => {
  it('are found', () => {
    expect(found.length).toBeGreaterThan(50)
  })

  it('have been judged, one by one: `node test/limits/check-regexes.ts` judges what is new', () => {
    const names = found.flatMap(({ regex }) => (regex ? [nameOf(regex)] : []))
    expect([...new Set(names)].sort()).toEqual([...listed.quick, ...listed.slow].sort())
    expect(CHECKER).toBe(listed.checker)
  })

  it('never backtrack for longer than their text is long, those that are judged again', () => {
    const isQuick = (regex: NonNullable<Found['regex']>) => listed.quick.includes(nameOf(regex))
    const fixed = found.flatMap(({ at, regex }) => (regex ? [{ at, regex }] : []))
    const quick = ofToday(
      fixed.filter(({ regex }) => isQuick(regex)),
      4,
    )
    // All but a few take a moment, and those few longer than all others: they wait for the night.
    const slow = runs(1) === 1 ? [] : fixed.filter(({ regex }) => !isQuick(regex))
    const complaints = [...quick, ...slow].flatMap(({ at, regex }) => {
      const complaint = complaintAbout(regex.source, regex.flags)
      return complaint === undefined ? [] : [`${at} ${nameOf(regex)}: ${complaint}`]
    })
    expect(complaints, `FIELDGATE_DAY=${day}`).toEqual([])
  }, 3_600_000)

  it('are fixed, or listed with the reason why they may be put together', () => {
    const made = found.filter(({ regex }) => !regex).map(({ at }) => at.replace(/:\d+$/, ''))
    expect([...new Set(made)].sort()).toEqual(Object.keys(MADE_AT_RUN_TIME).sort())
  })
})

describe('the check itself', () => {
  it('finds literals and what RegExp makes, in code alone', () => {
    const code = [
      "import x from 'x' // /comment/",
      'const a: RegExp = /a+/g',
      "const text = '/no regex/'",
      "new RegExp('b+', 'i')",
      'RegExp(`c+`)',
      'new RegExp(a.source)',
      'const half = 4 / 2 / 1',
    ].join('\n')
    expect(regexesIn('a.ts', code).map(({ at, regex }) => [at, regex])).toEqual([
      ['a.ts:2', { source: 'a+', flags: 'g' }],
      ['a.ts:4', { source: 'b+', flags: 'i' }],
      ['a.ts:5', { source: 'c+', flags: '' }],
      ['a.ts:6', undefined],
    ])
  })

  it.each([
    // What numbers were read with until a page of 40,000 digits held up a process for seconds.
    [String.raw`^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$`, 'i'],
    ['^(a+)+$', ''],
    [String.raw`\s+$`, ''],
    ['(?:[^"]|x)*"', ''],
  ])('refuses /%s/', (source, flags) => {
    expect(complaintAbout(source, flags)).toMatch(/polynomial|exponential/)
  })

  it.each([
    [String.raw`^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$`, 'i'],
    ['^[0-9a-f]{24}$', 'i'],
  ])('takes /%s/', (source, flags) => {
    expect(complaintAbout(source, flags)).toBeUndefined()
  })
})

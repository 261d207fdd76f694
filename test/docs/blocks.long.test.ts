import { beforeAll, describe, expect, it } from 'vitest'
import { day, ofToday } from '../runs.ts'
import { typeErrors } from './check-types.ts'
import { examples } from './examples.ts'
import { manual } from './pages.ts'
import { editionsOf } from './programs.ts'
import { problemsOf } from './run.ts'

const pages = manual()
const editions = pages.flatMap((page) => editionsOf(page))
/** Programs at the same time: more would only wait for each other. */
const AT_ONCE = 2

/** Of the manual's programs and of the examples in doc comments: one run of the compiler checks them all. */
let errors: readonly string[] = []
const inSources = (error: string) => /^(?:src|adapters)\//.test(error)
const inComments = examples()
beforeAll(async () => {
  errors = await typeErrors([...editions, ...inComments])
})

describe('the examples in doc comments', () => {
  it('have the types that they say', () => {
    // No example at all would pass for a check of every example.
    expect(inComments.length).toBeGreaterThan(15)
    expect(errors.filter(inSources)).toEqual([])
  })
})

describe('the programs of the manual', () => {
  it('have the types that they say', () => {
    expect(errors.filter((error) => !inSources(error))).toEqual([])
  })

  it('have them in a project that lets parameters go without a type too', async () => {
    const found = await typeErrors(ofToday(editions, 4), { noImplicitAny: false })
    expect(found, `FIELDGATE_DAY=${day}`).toEqual([])
  })

  it('run, and print what their page shows', { timeout: 1_200_000 }, async () => {
    const problems = await problemsOf(editions, AT_ONCE)
    expect(problems.join('\n\n')).toBe('')
  })
})

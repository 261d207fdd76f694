import { beforeAll, describe, expect, it } from 'vitest'
import { typeErrors } from './check-types.ts'
import { manual } from './pages.ts'
import { editionsOf } from './programs.ts'
import { problemsIn } from './run.ts'

const pages = manual()
const editions = pages.flatMap((page) => editionsOf(page))
/** Programs at the same time: more would only wait for each other. */
const AT_ONCE = 2

let errors: readonly string[] = []
beforeAll(async () => {
  errors = await typeErrors(editions)
})

describe('the programs of the manual', () => {
  it('have the types that they say', () => {
    expect(errors).toEqual([])
  })

  it('run, and print what their page shows', { timeout: 600_000 }, async () => {
    const problems: string[] = []
    const next = editions.values()
    const work = async () => {
      for (const edition of next) {
        const found = await problemsIn(edition).catch((error) => [`${edition.page}: ${error}`])
        problems.push(...found)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(problems).toEqual([])
  })
})

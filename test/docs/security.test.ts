/** The table of docs/security.md: its counts are those of its rows, and what it names as proof is there. */

import { describe, expect, it } from 'vitest'
import { commonPasswords } from '../../adapters/passwords/common.ts'
import { textOf } from './pages.ts'
import { missingIn, namedIn } from './proofs.ts'

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
    expect(rows.flatMap(({ how }) => missingIn(how))).toEqual([])
  })

  it('names a test for each requirement that is met', () => {
    const without = rows.filter((row) => row.state === 'met' && namedIn(row.how).length === 0)
    expect(without.map(({ id }) => id)).toEqual([])
  })

  it('says how many common passwords have ten characters or more', async () => {
    const { size } = await commonPasswords(10)
    expect(page).toContain(`(${size.toLocaleString('en')} entries)`)
  })
})

describe('the attacks that were tried', () => {
  it('name tests that exist, by their titles', () => {
    const attacks = textOf('docs/attacks.md').match(/^\| .* \| .* \| `test\/.*$/gm) ?? []
    expect(attacks.length).toBeGreaterThan(30)
    expect(attacks.flatMap((row) => missingIn(row.slice(row.lastIndexOf('| `test/'))))).toEqual([])
  })
})

import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { accounts } from './recorded/accounts.ts'
import type { Cases } from './recorded/case.ts'
import { envelope } from './recorded/envelope.ts'
import { limits } from './recorded/limits.ts'
import { lists } from './recorded/lists.ts'
import { uploads } from './recorded/uploads.ts'
import { writes } from './recorded/writes.ts'
import { ON_NPM, readRows, rowWith } from './rows.ts'

const rows = readRows().filter(({ section }) => section !== ON_NPM)
const groups: Readonly<Record<string, Cases>> = {
  envelope,
  lists,
  limits,
  writes,
  uploads,
  accounts,
}

describe.each(Object.entries(groups))('fieldgate and 3.3 as recorded: %s', (_, cases) => {
  it.each(Object.entries(cases))('%s', async (_title, { row, asks, there, here }) => {
    const seen = await asks()
    expect(seen).toEqual(row === undefined ? there : here)
    expect(isDeepStrictEqual(seen, there), 'does the same as 3.3').toBe(row === undefined)
  })
})

it('each difference is a row of docs/differences.md, and each row is a difference', () => {
  const named = Object.values(groups).flatMap((cases) =>
    Object.values(cases).flatMap(({ row }) => (row === undefined ? [] : [rowWith(row, rows)])),
  )
  expect(rows.filter((row) => !named.includes(row))).toEqual([])
})

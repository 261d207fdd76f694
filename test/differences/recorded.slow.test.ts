import { expect, it } from 'vitest'
import { accounts } from './recorded/accounts.ts'
import type { Cases } from './recorded/case.ts'
import { database } from './recorded/database.ts'
import { envelope } from './recorded/envelope.ts'
import { limits } from './recorded/limits.ts'
import { lists } from './recorded/lists.ts'
import { test } from './recorded/run.ts'
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

for (const [name, cases] of Object.entries(groups)) test(name, cases)

it('each difference is a row of docs/differences.md, and each row is a difference', () => {
  // Those of the database are tests of their own, because they need one.
  const all = [...Object.values(groups), database('')]
  const named = all.flatMap((cases) =>
    Object.values(cases).flatMap(({ row }) => (row === undefined ? [] : [rowWith(row, rows)])),
  )
  expect(rows.filter((row) => !named.includes(row))).toEqual([])
})

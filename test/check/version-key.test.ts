import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../src/index.ts'
import { recordChecker } from '../../src/upkeep/check/record.ts'

it("a version key of Mongoose's, whatever its name, is no undeclared member", async () => {
  const model = defineModel('Counted', { fields: { name: z.string() } })
  const counted = { ...model, version: { key: 'rev', always: false } }
  const record = { _id: '0'.repeat(24), name: 'a', rev: 3 }
  expect(await recordChecker(counted)(record)).toEqual([])
  expect(await recordChecker(model)(record)).toEqual([{ problem: 'undeclared', field: 'rev' }])
})

import { expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import type { Compared } from './compare.ts'
import { explained } from './explained.ts'
import { differ } from './npm.ts'

await withService('mongo', ({ url }) => {
  it('fieldgate differs from 1.1.7, as npm has it, in the rows of docs/differences.md and in nothing else', async () => {
    const { pairs, shown, wrong } = await differ(url, runs(20), 7)
    expect(wrong).toEqual([])
    expect(pairs).toBeGreaterThan(250)
    expect([...shown.values()].every((count) => count > 0)).toBe(true)
  }, 300_000)
})

it('a difference that no row explains is found', () => {
  const answer = { type: 'application/json', body: null, headers: {}, stored: undefined }
  const compared: Compared = {
    pair: { method: 'GET', path: '/items?name=anvil', headers: {} },
    there: { status: 200, ...answer },
    here: { status: 404, ...answer },
    differences: [],
  }
  const [there, here] = [[{ _id: 'a' }], [{ _id: 'b' }]]
  expect(explained({ facet: 'status', there: 200, here: 404 }, compared)).toEqual([])
  expect(explained({ facet: 'records', there, here }, compared)).toEqual([])
  expect(explained({ facet: 'header x-new', there: false, here: true }, compared)).toEqual([])
})

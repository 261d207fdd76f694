import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { newFile } from '../../contract/store/file.ts'
import { explained } from './order.ts'
import { type Call, IDS, stepsOver } from './world.ts'

const [id = ''] = IDS
const call = (
  start: number,
  end: number,
  ...all: readonly (readonly [object, unknown])[]
): Call => ({
  ...{ start, end },
  deeds: all.map(([deed]) => ({ model: 0, ...deed }) as Call['deeds'][number]),
  told: all.map(([, told]) => told),
})
const made = call(0, 1, [{ insert: id, value: 1, group: 0 }, '1: 1 in 0'])
const removed = call(2, 5, [{ remove: id }, true])

describe('the order of steps', () => {
  it('is found if one explains all that was told', () => {
    const during = call(3, 6, [{ get: id }, '1: 1 in 0'])
    expect(explained([made, removed, during])).toBe(3)
    expect(explained([made, removed, call(6, 7, [{ one: 0 }, ''])])).toBe(3)
  })

  it.each<[string, Call]>([
    ['a late read', call(6, 7, [{ get: id }, '1: 1 in 0'])],
    [
      'a record that is gone half-way',
      call(3, 4, [{ get: id }, '1: 1 in 0'], [{ remove: id }, false]),
    ],
    ['a value that nobody wrote', call(3, 4, [{ ids: [id] }, '1: 2 in 0'])],
  ])('is not found for %s', (_, wrong) => {
    expect(explained([made, removed, wrong])).toBeLessThan(3)
  })
})

it('SQLite: some order of all steps explains what each deed of them told', async () => {
  const path = newFile()
  const calls = await stepsOver([sqliteStore({ path }), sqliteStore({ path })], 40)
  expect(calls.length).toBeGreaterThan(20)
  expect(explained(calls)).toBe(calls.length)
}, 30_000)

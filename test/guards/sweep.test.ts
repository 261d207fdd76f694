import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { ownSchema, sweep } from '../../src/model/own-records.ts'
import { everything } from '../../src/ports/store/filter.ts'

const schema = ownSchema('swept_records', { expiresAt: 'date' }, [['expiresAt']])
const idAt = (at: number) => at.toString(16).padStart(24, '0')

/** Records that expire at these moments, and the most deletions of them that were asked for and not done. */
async function expiring(moments: readonly number[]) {
  const store = sqliteStore()
  onTestFinished(() => store.close())
  await store.prepare([schema])
  const records = store.collection(schema)
  for (const at of moments) await records.insert({ _id: idAt(at), expiresAt: new Date(at) })
  const asked = { now: 0, most: 0, all: 0 }
  const swept = {
    find: records.find,
    delete: async (...given: Parameters<typeof records.delete>) => {
      asked.all += 1
      asked.now += 1
      asked.most = Math.max(asked.most, asked.now)
      return Promise.resolve(records.delete(...given)).finally(() => {
        asked.now -= 1
      })
    },
  }
  const left = async () => {
    const found = await records.find({ filter: everything, sort: [], limit: 100 })
    return found.map(({ expiresAt }) => Number(expiresAt)).sort((a, b) => a - b)
  }
  return { swept, asked, left }
}

it('what has expired goes together, the first first, and no more than a sweep may take', async () => {
  const { swept, asked, left } = await expiring([9, 8, 7, 6, 5, 4, 3, 2, 1])
  await sweep(swept, 8, 5)
  expect(await left()).toEqual([6, 7, 8, 9])
  expect(asked).toEqual({ now: 0, most: 5, all: 5 })
  await sweep(swept, 8, 5)
  expect(await left()).toEqual([8, 9])
  expect(asked.all).toBe(7)
})

it('where nothing has expired, nothing is written', async () => {
  const { swept, asked, left } = await expiring([8, 9])
  await sweep(swept, 8, 5)
  expect(await left()).toEqual([8, 9])
  expect(asked.all).toBe(0)
})

it('a record that was made anew since it was read stays', async () => {
  const { swept, left } = await expiring([1])
  const later = { ...swept, find: async () => [{ _id: idAt(1) }] }
  await sweep(later, 1, 5)
  expect(await left()).toEqual([1])
})

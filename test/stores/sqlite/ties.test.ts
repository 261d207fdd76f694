import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { keys, reading } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { everything, type Scalar } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'

const AGES = [3, 3, 3, 1, 2, 2, 5, 5]

it.each([
  ['age', AGES],
  ['-age', AGES],
  ['age', [...AGES, null, null]],
  ['-age', [null, ...AGES, null]],
] as const)(
  'pages in the order of an index have each record once, also where several share its value (%s)',
  async (key, ages) => {
    const sort = keys(key, '_id')
    const schema = { ...people, indexes: [keys(key)] }
    const store = sqliteStore()
    await store.prepare([schema])
    const collection = store.collection(schema)
    for (const [at, age] of ages.entries()) {
      const _id = at.toString(16).padStart(24, '0')
      await collection.insert({ _id, name: `${at}`, ...(age !== null && { age }) })
    }
    const whole = await collection.find(reading(everything, { sort }))
    for (const limit of [1, 2, 3, 7]) {
      const seen: Fields[] = []
      let after: Scalar[] | undefined
      for (let isMore = true; isMore; ) {
        const found = await collection.find(
          reading(everything, { sort, limit, ...(after && { after }) }),
        )
        seen.push(...found)
        const last = found.at(-1)
        after = last && [(last.age ?? null) as Scalar, String(last._id)]
        isMore = found.length === limit
      }
      expect(seen, `by ${limit}`).toEqual(whole)
    }
    await store.close()
  },
)

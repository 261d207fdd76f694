/** What a step sees of records that it has written is what it would see if they were stored. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { people, person } from '../../extras/contract/store/people.ts'
import {
  Random,
  randomFields,
  randomFilter,
  randomSort,
} from '../../extras/contract/store/random.ts'
import type { Model } from '../../src/model/model.ts'
import { withId } from '../../src/ports/store/filter.ts'
import type { Fields, Projection } from '../../src/ports/store/records.ts'
import type { Collection } from '../../src/ports/store/store.ts'
import { OverlaidRecords } from '../../src/records/overlay/overlaid-records.ts'
import { runs } from '../runs.ts'

async function collection(records: readonly Fields[]): Promise<Collection> {
  const store = sqliteStore()
  onTestFinished(() => store.close())
  await store.prepare([people])
  const made = store.collection(people)
  for (const record of records) await made.insert(record)
  return made
}

/** Records without the fields that are unique. */
const some = (random: Random) => {
  const { email: _, tenant: __, slug: ___, ...fields } = randomFields(random)
  return fields
}

const SELECTS: readonly [Projection | undefined, ...Projection[]] = [
  undefined,
  { include: ['name', 'homes.city', 'any'] },
  { exclude: ['address', 'homes.rooms', 'any', 'tags'] },
]

/** Records of which some have been written, and the same as if all were stored. */
async function written(random: Random) {
  const before = Array.from({ length: 40 }, () => person(some(random)))
  const after = before.map((one) => (random.chance(50) ? { _id: one._id, ...some(random) } : one))
  const made = Array.from({ length: 10 }, () => person(some(random)))
  const stored = await collection(before)
  const overlaid = new OverlaidRecords(
    { model: { shape: people.shape } as Model, stored },
    () => {},
  )
  for (const [at, was] of before.entries()) {
    if (after[at] !== was) overlaid.note(was, after[at] ?? null)
  }
  for (const is of made) overlaid.note(null, is)
  return { made, overlaid, whole: await collection([...after, ...made]) }
}

describe('records of a step', () => {
  it.each(Array.from({ length: runs(5) }, (_, at) => at + 1))(
    'are filtered, ordered and cut as by the store (seed %i)',
    async (seed) => {
      const random = new Random(seed)
      const { made, overlaid, whole } = await written(random)
      for (let asked = 0; asked < 150; asked += 1) {
        const select = random.of(SELECTS)
        const read = {
          filter: randomFilter(random),
          sort: randomSort(random),
          skip: random.below(3),
          limit: 1 + random.below(20),
          ...(select && { select }),
        }
        expect(await overlaid.find(read), JSON.stringify(read)).toEqual(await whole.find(read))
        const count = await overlaid.collection({} as never).count(read.filter)
        expect(count, JSON.stringify(read)).toBe(await whole.count(read.filter))
      }
      // Reading has changed none of them.
      for (const one of made) {
        const read = { filter: withId(String(one._id)), sort: [], limit: 1 }
        expect(await overlaid.find(read)).toEqual([one])
      }
    },
  )
})

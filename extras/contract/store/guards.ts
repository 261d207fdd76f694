/** The store port's promises about guards, and about records that a write requires as they were. */

import { everything } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { holding, reading } from './ask.ts'
import { people, person } from './people.ts'
import { failing, insert, named, require } from './together.ts'

/** What writes may rely on, for a store with `guards`. */
export const guards: Contract<Store> = {
  async 'a step requires that a record holds exactly what is expected'(store) {
    if (!store.write || !store.guards) return
    const collection = await holding(store, { name: 'a', age: 1, tags: ['x'] }, { name: 'b' })
    const requiring = (expect: Fields) =>
      failing(store, [
        { in: people, require: named('a'), exists: true, options: { expect } },
        insert(person({ name: 'new' })),
      ])
    equal(await requiring({ age: 1, tags: ['x'], born: undefined }), undefined)
    equal(await requiring({ age: 2 }), 0)
    equal(await requiring({ tags: ['x', 'y'] }), 0)
    equal(await requiring({ age: undefined }), 0)
    equal(await collection.count(named('new')), 1)
  },
  async 'of writes with the same guard, none misses what another has written'(store) {
    if (!store.write || !store.guards) return
    const collection = await holding(store)
    const book = async (name: string) => {
      const taken = await failing(store, [
        { in: people, guard: `name ${name}` },
        { in: people, guard: 'all names' },
        require(named(name), false),
        insert(person({ name })),
      ])
      return taken === undefined ? name : taken
    }
    const booked = await Promise.all(Array.from({ length: 30 }, (_, at) => book(`${at % 3}`)))
    deepEqual(booked.filter((one) => typeof one === 'string').sort(), ['0', '1', '2'])
    deepEqual([...new Set(booked.filter((one) => typeof one === 'number'))], [2])
    equal(await collection.count(everything), 3)
  },
  async 'writes that require what the others change are taken one after the other'(store) {
    if (!store.write || !store.guards) return
    const collection = await holding(store, { name: 'a', age: 0 }, { name: 'b', age: 0 })
    const swap = async (one: string, other: string, at: number) =>
      failing(store, [
        { in: people, require: named(one), exists: true, options: { expect: { age: 0 } } },
        { in: people, update: named(other), change: { set: { age: at } } },
      ])
    const failures = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        at % 2 ? swap('a', 'b', at + 1) : swap('b', 'a', at + 1),
      ),
    )
    // Whoever was first has changed what the others of its kind do not require.
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (one) => (await collection.find(reading(named(one))))[0]),
    )
    ok(failures.includes(undefined))
    ok((a?.age === 0) !== (b?.age === 0), JSON.stringify([a, b]))
  },
}

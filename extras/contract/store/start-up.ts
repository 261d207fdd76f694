/** The store port's promises about start-up, time limits and shutdown. */

import { everything } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import {
  DuplicateKey,
  IndexConflict,
  StoreTimeout,
  StoreUnavailable,
} from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { containing, holding, namesOf, reading, where } from './ask.ts'
import { person, people as schema } from './people.ts'

const me = where('name', 'eq', 'me')

/** Start-up, time limits and shutdown. */
export const startUp: Contract<Store> = {
  async 'prepare may be called again, and adds what a changed schema declares'(store) {
    const people = await holding(
      store,
      { name: 'Ünal', score: 1, slug: 'ÉTÉ', homes: [{ rooms: 1 }, { city: 'ŁÓDŹ' }] },
      { name: 'b', score: 2, slug: null },
    )
    const wider = {
      ...schema,
      unique: [...schema.unique, ['score']],
      searchable: [...schema.searchable, 'slug', 'homes.city'],
    }
    await store.prepare([wider])
    await store.prepare([wider])
    const again = store.collection(wider)
    equal(await namesOf(again, containing('name', 'ÜN')), 'Ünal')
    equal(await namesOf(again, containing('slug', 'été')), 'Ünal')
    equal(await namesOf(again, containing('homes.city', 'łódź')), 'Ünal')
    await rejects(again.insert(person({ score: 1 })), DuplicateKey)
    equal(await people.count(everything), 2)
  },
  async 'a unique field that existing records violate is a start-up error that names it'(store) {
    await holding(store, { name: 'a', score: 1 }, { name: 'b', score: 1 })
    const stricter = { ...schema, unique: [...schema.unique, ['score']] }
    await rejects(store.prepare([stricter]), (error: IndexConflict) => {
      deepEqual(error.fields, ['score'])
      return error instanceof IndexConflict
    })
  },
  async 'a start that fails leaves what was unique before'(store) {
    const people = await holding(store, { score: 1, email: 'a' }, { score: 1 })
    await rejects(store.prepare([{ ...schema, unique: [['score']] }]), IndexConflict)
    await rejects(people.insert(person({ email: 'a' })), DuplicateKey)
  },
  async 'a read that takes longer than its time limit rejects with StoreTimeout'(store) {
    const people = await holding(store)
    const terms = Array.from({ length: 60 }, (_, at) => `y${at}`)
    // All of them hold every term, so that no index spares a look at each.
    for (let at = 0; at < 200; at += 1) {
      await people.insert(person({ name: 'x'.repeat(20_000) + terms.join('') }))
    }
    const slow = { op: 'and', filters: terms.map((term) => containing('name', term)) } as const
    await rejects(people.count(slow, { timeLimitMs: 1 }), StoreTimeout)
    await rejects(people.find(reading(slow, { hints: { timeLimitMs: 1 } })), StoreTimeout)
    equal(await people.count(where('name', 'eq', 'none'), { timeLimitMs: 10_000 }), 0)
  },
  async 'a watch tells whether there was a write since it was last asked'(store) {
    const people = await holding(store, { name: 'a' })
    const watch = await store.copying?.watch?.([schema.name])
    if (!watch) return
    equal(await watch.written(), false)
    await people.find(reading(everything))
    equal(await watch.written(), false)
    await people.update(where('name', 'eq', 'a'), { set: { name: 'b' } })
    await people.update(where('name', 'eq', 'b'), { set: { name: 'a' } })
    equal(await watch.written(), true)
    equal(await watch.written(), false)
    await people.delete(where('name', 'eq', 'a'))
    equal(await watch.written(), true)
    await watch.close()
  },
  async 'after close everything rejects with StoreUnavailable, and closing twice is harmless'(
    store,
  ) {
    const people = await holding(store, { name: 'a' })
    await store.close()
    await store.close()
    await rejects(people.find(reading(everything)), StoreUnavailable)
    await rejects(people.find(reading(containing('name', 'abc'))), StoreUnavailable)
    await rejects(people.count(everything), StoreUnavailable)
    await rejects(people.insert(person({})), StoreUnavailable)
    await rejects(people.update(me, { set: { age: 1 } }), StoreUnavailable)
    await rejects(people.delete(me), StoreUnavailable)
  },
}

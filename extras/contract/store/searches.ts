/** The store port's promises about searches, patterns and unusual strings. */

import type { Store } from '../../../src/ports/store/store.ts'
import { InvalidPattern } from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { containing, holding, namesOf, where } from './ask.ts'
import { person } from './people.ts'

/** Searches, patterns and unusual strings. */
export const searches: Contract<Store> = {
  async 'a search is literal and anywhere in the value'(store) {
    const texts = [
      '100% sure',
      'a_b',
      'back\\slash',
      'dot.star*',
      '^caret$',
      `it's "quoted"`,
      '[set]',
      'a;--',
    ]
    const people = await holding(store, ...texts.map((name) => ({ name })))
    for (const text of texts)
      equal(await namesOf(people, containing('name', text.slice(1, -1))), text)
    equal(await namesOf(people, containing('name', '%')), '100% sure')
    equal(await namesOf(people, containing('name', '_')), 'a_b')
    equal(await namesOf(people, containing('name', 'x.y')), '')
    equal(await people.count(containing('name', 'A')), 5)
  },
  async 'a search takes 128 characters, of any script'(store) {
    const long = 'Ⴀ😀é"'.repeat(40)
    const people = await holding(store, { name: `before ${long} after`, tags: [long] })
    const term = Array.from(long).slice(3, 131).join('')
    equal(await people.count(containing('name', term)), 1)
    equal(await people.count(containing('tags', term)), 1)
    equal(await people.count(containing('name', `${term}x`)), 0)
  },
  async 'a search ignores case for all of Unicode, and keeps accents apart'(store) {
    const texts = [
      'Éclair',
      'eclair',
      'ΣΊΣΥΦΟΣ',
      'Straße',
      'ıstanbul',
      'K(elvin)',
      'ЖЁЛУДЬ',
      '𐐀deseret',
    ]
    const people = await holding(store, ...texts.map((name) => ({ name })))
    equal(await namesOf(people, containing('name', 'éCLAIR')), 'Éclair')
    equal(await namesOf(people, containing('name', 'σίσυφοσ')), 'ΣΊΣΥΦΟΣ')
    equal(await namesOf(people, containing('name', 'σίσυφος')), 'ΣΊΣΥΦΟΣ')
    equal(await namesOf(people, containing('name', 'STRAẞE')), 'Straße')
    equal(await namesOf(people, containing('name', 'strasse')), '')
    equal(await namesOf(people, containing('name', 'ISTANBUL')), '')
    equal(await namesOf(people, containing('name', 'k(ELVIN')), 'K(elvin)')
    equal(await namesOf(people, containing('name', 'жёлудь')), 'ЖЁЛУДЬ')
    equal(await namesOf(people, containing('name', '𐐨DES')), '𐐀deseret')
  },
  async 'a search in a list finds within one element, not across two'(store) {
    const people = await holding(
      store,
      { name: 'ab', tags: ['alpha', 'beta'] },
      { name: 'none', tags: [] },
      { name: 'missing' },
    )
    equal(await namesOf(people, containing('tags', 'PH')), 'ab')
    equal(await namesOf(people, containing('tags', 'ab')), '')
    equal(await namesOf(people, containing('tags', '","')), '')
    equal(await namesOf(people, containing('address.city', 'x')), '')
  },
  async 'a search follows what is written'(store) {
    const people = await holding(store, { name: 'before', tags: ['old'], address: { city: 'Ur' } })
    await people.update(where('name', 'eq', 'before'), {
      set: { name: 'after', tags: ['new'], 'address.city': 'Uruk' },
    })
    equal(await namesOf(people, containing('name', 'FTE')), 'after')
    equal(await namesOf(people, containing('name', 'befor')), '')
    equal(await namesOf(people, containing('tags', 'NEW')), 'after')
    equal(await namesOf(people, containing('address.city', 'ruk')), 'after')
    await people.update(where('name', 'eq', 'after'), {
      push: { tags: { value: 'Pushed' } },
      unset: ['address'],
    })
    equal(await namesOf(people, containing('tags', 'pushed')), 'after')
    equal(await namesOf(people, containing('address.city', 'ruk')), '')
  },
  async 'odd text neither breaks a store nor finds what is not there'(store) {
    const people = await holding(store, { name: 'plain' })
    for (const text of [
      '\u0000',
      'a\u0000b',
      '\ud800',
      '\uffff',
      "'; DROP TABLE people; --",
      '"',
      '$where',
      '\\',
    ]) {
      equal(await namesOf(people, containing('name', text)), '', JSON.stringify(text))
      equal(await namesOf(people, where('name', 'eq', text)), '', JSON.stringify(text))
    }
    equal(await namesOf(people, where("odd 'name$[0]", 'eq', null)), 'plain')
  },
  async 'a pattern matches ignoring case, where the store has patterns'(store) {
    const people = await holding(store, { name: 'Alpha' }, { name: 'beta' })
    if (!store.rawRegex) return
    equal(await namesOf(people, { op: 'matches', field: 'name', pattern: '^al.*A$' }), 'Alpha')
    equal(await namesOf(people, { op: 'matches', field: 'name', pattern: 'a$' }), 'Alpha beta')
    await rejects(
      people.find({ filter: { op: 'matches', field: 'name', pattern: '(' }, sort: [], limit: 1 }),
      InvalidPattern,
    )
  },
  async 'values with NUL, emoji and every control character round-trip'(store) {
    const people = await holding(store)
    const name = `${Array.from({ length: 32 }, (_, at) => String.fromCharCode(at)).join('')}😀"\\'`
    const record = person({ name, address: { city: name } })
    await people.insert(record)
    deepEqual(
      await people.find({ filter: where('_id', 'eq', String(record._id)), sort: [], limit: 1 }),
      [record],
    )
    equal(await people.count(where('name', 'eq', name)), 1)
    equal(await people.count(containing('name', name.slice(3, 20))), 1)
  },
}

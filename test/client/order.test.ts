import fc from 'fast-check'
import { expect, it } from 'vitest'
import { orderedBy } from '../../src/client/lists/order.ts'
import { runs, seeded } from '../runs.ts'

it('the client orders texts by code point, as the server does', () => {
  const compare = orderedBy(['text'])
  // Few characters, of which some take two code units, so that texts begin alike.
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', '\uffff', '😀', '😁'), maxLength: 4 })
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const [left, right] = [Buffer.from(one), Buffer.from(other)]
      expect(compare({ text: one }, { text: other })).toBe(Buffer.compare(left, right))
    }),
    { ...seeded, numRuns: runs(300) },
  )
})

it('the client orders ids that are integers by number, and any other texts as texts', () => {
  const ids = ['10', '9', '-3', '9223372036854775807', '9223372036854775806']
  const sorted = (numbers: readonly string[]) =>
    ids
      .map((_id) => ({ _id }))
      .sort(orderedBy(['_id'], numbers))
      .map(({ _id }) => _id)
  expect(sorted(['_id'])).toEqual(['-3', '9', '10', '9223372036854775806', '9223372036854775807'])
  expect(sorted([])).toEqual(['-3', '10', '9', '9223372036854775806', '9223372036854775807'])
  // An id until the server has made one.
  expect(orderedBy([], ['_id'])({ _id: '0.5' }, { _id: '10' })).toBeLessThan(0)
})

it('the client orders by a reference that is filled in as the server does: by its id', () => {
  const [first, second] = [{ _id: '1' }, { _id: '2' }]
  const all = [
    { _id: 'c', land: second },
    { _id: 'b', land: first },
    { _id: 'a', land: second },
    { _id: 'd', land: null },
  ]
  const ids = all.sort(orderedBy(['-land'])).map(({ _id }) => _id)
  expect(ids).toEqual(['a', 'c', 'b', 'd'])
})

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

import { expect, test } from 'vitest'
import { copied } from '../../src/model/versions/present.ts'

/** All objects in a value. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

test.each([
  ['a small record', { a: 1, at: new Date(3), place: { list: [1, [2, null]], empty: {} } }],
  ['a long list of numbers', { list: Array.from({ length: 5000 }, (_, at) => at) }],
  ['many keys', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]))],
  ['many objects', { list: Array.from({ length: 3000 }, (_, at) => ({ at, on: new Date(at) })) }],
  [
    'long lists in objects in a list',
    { list: [{ inner: Array.from({ length: 2000 }, () => ['x']) }, {}], name: 'a' },
  ],
  ['a key that sets prototypes', JSON.parse('{"map":{"__proto__":{"a":[1]}}}')],
])('a copy of %s is equal and shares nothing', (_, value) => {
  const copy = copied(value)
  expect(copy).toEqual(value)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
  const originals = new Set(objectsIn(value))
  expect(objectsIn(copy).filter((one) => originals.has(one))).toEqual([])
})

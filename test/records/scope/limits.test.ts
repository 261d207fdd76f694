import { expect, it } from 'vitest'
import { type Limit, Scope } from '../../../src/records/rules/scope.ts'

const limit = (field: string, value: Limit['value'], isInList = false): Limit => {
  return { field, value, isInList }
}

it.each<[Limit, object, boolean]>([
  [limit('at', new Date(5)), { at: new Date(5) }, true],
  [limit('at', new Date(5)), { at: new Date(6) }, false],
  [limit('at', new Date(5)), { at: 'a text' }, false],
  [limit('tags', 'a', true), { tags: ['b', 'a'] }, true],
  [limit('tags', 'a', true), { tags: 'a' }, true],
  [limit('name', 'a'), { name: ['a'] }, false],
  [limit('name', null), {}, true],
])('%j admits %j: %s', (one, record, isAdmitted) => {
  expect(new Scope([[one]]).admits({ ...record })).toBe(isAdmitted)
})

it('a new record gets what all alternatives have in common', () => {
  const common = [limit('b', 1), limit('tags', 'x', true), limit('none', null, true)]
  const scope = new Scope([
    [limit('a', 1), ...common],
    [...common, limit('a', 2)],
  ])
  expect(scope.values).toEqual({ b: 1, tags: ['x'], none: null })
})

it('what a change leaves of a scope are the limits that it does not write', () => {
  const scope = new Scope([
    [limit('a', 1), limit('b', 1)],
    [limit('a', 2), limit('b', 2)],
  ])
  expect(scope.keeping({ c: 1 })).toEqual(new Scope([[]]).filter)
  expect(scope.keeping({ a: 2 })).toEqual(new Scope([[limit('b', 2)]]).filter)
})

/**
 * Filters up to the most that a QUERY may hold, with every kind of order: each page of a list is answered as the first
 * one was, with statements that D1 takes.
 *
 * @module
 */

import { describe, expect, it, onTestFinished } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { Oracle } from '../../../extras/contract/store/oracle.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { all, any, type Filter, withId } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import type { Collection, Store } from '../../../src/ports/store/store.ts'
import { QueryTooLong } from '../../../src/ports/store/store-errors.ts'
import { type Asked, MOST_BYTES, watchedD1 } from './statements.ts'
import { type World, worldOf } from './wide.ts'

/** The D1 database of a test, and how many random models are tried. */
export interface Tried {
  readonly open: () => D1Binding
  readonly worlds: number
  /** A store without a limit, which has to find the same. */
  readonly unlimited?: () => Store
}

/** The most parameters that D1 takes. */
const MOST_BOUND = 100

/** A world in stores, and what it should answer. */
interface Opened {
  readonly world: World
  readonly d1: Collection
  readonly unlimited: Collection | undefined
  readonly oracle: Oracle
}

async function opened(world: World, first: Store, second: Store | undefined): Promise<Opened> {
  const { schema } = world
  await first.prepare([schema])
  await second?.prepare([schema])
  const [d1, unlimited] = [first.collection(schema), second?.collection(schema)]
  const oracle = new Oracle([])
  for (const record of world.records) {
    oracle.insert(record)
    await d1.insert(record)
    await unlimited?.insert(record)
  }
  return { world, d1, unlimited, oracle }
}

type List = Pick<Read, 'filter' | 'sort'>

/** The ids on all pages of a list, or that it is refused: with the first page or not at all. */
async function walked(
  collection: Collection,
  list: List,
  scope: readonly Filter[],
): Promise<unknown[] | 'refused'> {
  const ids: unknown[] = []
  for (;;) {
    const last = ids.at(-1)
    const start = last !== undefined && { afterRecord: all([...scope, withId(String(last))]) }
    const page = collection.find({ ...list, ...start, limit: 4 })
    const found = await page.catch((error: unknown) => {
      if (error instanceof QueryTooLong && last === undefined) return undefined
      throw error
    })
    if (!found) return 'refused'
    if (found.length === 0) return ids
    ids.push(...found.map(({ _id }) => _id))
  }
}

/** The most conditions that D1 takes in a list. */
async function mostIn({ world, d1 }: Opened, scope: readonly Filter[]): Promise<number> {
  let [taken, refused] = [0, world.conditions + 1]
  while (taken + 1 < refused) {
    const middle = (taken + refused) >> 1
    const filter = all([...scope, world.filterOf(middle)])
    const count = await d1.count(filter).catch((error: unknown) => {
      if (error instanceof QueryTooLong) return undefined
      throw error
    })
    if (count === undefined) refused = middle
    else taken = middle
  }
  return taken
}

/** A scope as an app may have it, of alternatives. */
function scopeOf(random: Random, { sorted: [field = ''] }: World): Filter[] {
  if (random.chance(40)) return []
  const values = Array.from({ length: 1 + random.below(8) }, (_, at) => at + 2)
  return [any(values.map((value): Filter => ({ op: 'ne', field, value })))]
}

/** Asks for a list in all stores, and of D1 its count too. */
async function compared(
  { d1, unlimited, oracle }: Opened,
  list: List,
  scope: readonly Filter[],
): Promise<{ readonly records: number; readonly isRefused: boolean }> {
  const expected = oracle.find({ ...list, limit: 100 }).map(({ _id }) => _id)
  if (unlimited) expect(await walked(unlimited, list, scope)).toEqual(expected)
  const found = await walked(d1, list, scope)
  if (found === 'refused') {
    await expect(d1.count(list.filter)).rejects.toThrow(QueryTooLong)
    return { records: 0, isRefused: true }
  }
  expect(found).toEqual(expected)
  expect(await d1.count(list.filter)).toBe(expected.length)
  return { records: expected.length, isRefused: false }
}

function expectTaken(statements: readonly Asked[]): void {
  for (const { bytes, bound } of statements) {
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
    expect(bound).toBeLessThanOrEqual(MOST_BOUND)
  }
}

/** Registers the suite for D1. */
export function longFilters(name: string, { open, worlds, unlimited }: Tried): void {
  describe(`long filters on ${name}`, () => {
    const { binding, statements } = watchedD1(open())
    const met = { records: 0, once: 0, refused: 0 }

    it.each(Array.from({ length: worlds }, (_, at) => at + 1))(
      'all pages are answered as the first one was, with statements that D1 takes (seed %i)',
      async (seed) => {
        const random = new Random(seed)
        const world = worldOf(random, `wide${seed}`)
        const second = unlimited?.()
        onTestFinished(() => second?.close())
        const stores = await opened(world, d1Store(binding), second)
        statements.length = 0
        const scope = scopeOf(random, world)
        const most = await mostIn(stores, scope)
        for (const count of [random.below(40), 100, random.below(most + 1), most, most + 1]) {
          const list = { filter: all([...scope, world.filterOf(count)]), sort: world.order() }
          const { records, isRefused } = await compared(stores, list, scope)
          met.records += records
          met.refused += isRefused ? 1 : 0
        }
        expectTaken(statements)
        met.once += statements.filter(({ sql }) => sql.startsWith('WITH')).length
      },
    )

    it('there were records to find, and lists of each kind', () => {
      const { records, once, refused } = met
      expect(Math.min(records / 10, once, refused), JSON.stringify(met)).toBeGreaterThanOrEqual(1)
    })
  })
}

import { expect, it, vi } from 'vitest'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import { Counts } from '../../../adapters/stores/sqlite/connection/counts.ts'
import {
  type FoundRows,
  searchesIn,
  shadowsOf,
} from '../../../adapters/stores/sqlite/layout/records.ts'
import type { Runner } from '../../../adapters/stores/sqlite/layout/runner.ts'
import {
  Parameters,
  type SqlValue,
  type Statement,
} from '../../../adapters/stores/sqlite/layout/sql.ts'
import { openTarget } from '../../../adapters/stores/sqlite/statements/collection.ts'
import { compileFilter } from '../../../adapters/stores/sqlite/statements/filter.ts'
import { KeptStatements, readShape } from '../../../adapters/stores/sqlite/statements/kept.ts'
import { compilePage } from '../../../adapters/stores/sqlite/statements/page.ts'
import { where } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { Random, randomFilter, randomSort } from '../../../extras/contract/store/random.ts'
import { any, everything, type Filter, type Scalar } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import type { Change } from '../../../src/ports/store/store.ts'
import { seeds } from '../../runs.ts'

let compiled = 0

const shadows = shadowsOf(people)

function compile(read: Read, found?: FoundRows): Statement {
  compiled += 1
  const context = { shape: people.shape, shadows, parameters: new Parameters(), found }
  const conditions = [compileFilter(read.filter, context)]
  const sql = compilePage({ columns: 'doc', table: 'people' }, read, conditions, context)
  return context.parameters.statement(sql)
}

function statementOf(pages: KeptStatements, read: Read, found?: FoundRows): Statement {
  const values: SqlValue[] = []
  return pages.of(readShape(read, values, found), values, () => compile(read, found))
}

/** A statement with its values in their places. */
function written({ sql, values }: Statement): string {
  return sql.replace(/\?(\d+)/g, (_, number) => JSON.stringify(values[Number(number) - 1]))
}

function searches(filter: Filter): boolean {
  return 'filters' in filter ? filter.filters.some(searches) : filter.op === 'contains'
}

function randomRead(random: Random): Read {
  let filter = randomFilter(random)
  while (searches(filter)) filter = randomFilter(random)
  if (random.chance(20)) {
    const halved = where('name', random.of(['eq', 'ne', 'lt']), random.of(['\ud800', 'a']))
    filter = any([filter, halved])
  }
  const sort = randomSort(random)
  const positions: readonly [Scalar, ...Scalar[]] = [
    'a',
    'b',
    '\ud800',
    1,
    2,
    0.1,
    null,
    true,
    new Date(0),
  ]
  return {
    filter,
    sort,
    limit: random.of([1, 10, 20]),
    skip: random.of([0, 5, 10, 20_000]),
    ...(random.chance(50) && { after: sort.map(() => random.of(positions)) }),
  }
}

it.each(seeds(1))(
  'a page that is compiled once has the values of each read in their places (seed %i)',
  (seed) => {
    const random = new Random(seed)
    const pages = new KeptStatements()
    for (let turn = 0; turn < 3000; turn += 1) {
      const read = randomRead(random)
      expect(written(statementOf(pages, read))).toBe(written(compile(read)))
    }
  },
)

it.each(seeds(1))('so has a search (seed %i)', (seed) => {
  const random = new Random(seed)
  const pages = new KeptStatements()
  for (let turn = 0; turn < 1000; turn += 1) {
    const search = (): Filter => ({
      op: 'contains',
      field: random.of(['name', 'tags', 'address.city']),
      text: random.of(['aa', 'Bo', `text ${turn}`, 'x\ud800']),
    })
    const filter = any([search(), search(), where('age', 'gt', turn % 3)])
    const found = new Map(
      searchesIn(filter, shadows).map((one) => {
        const rowids = random.chance(70) ? `[${random.list(2, () => turn)}]` : undefined
        return [one.key, { ...one, rowids }]
      }),
    )
    const read = { filter, sort: [], limit: 10 }
    expect(written(statementOf(pages, read, found))).toBe(written(compile(read, found)))
  }
})

it('a page is not compiled again for other values', () => {
  const pages = new KeptStatements()
  const read = (value: Scalar): Read => ({ filter: where('age', 'gt', value), sort: [], limit: 5 })
  compiled = 0
  for (const age of [1, 2, 5, 2]) statementOf(pages, read(age))
  expect(compiled).toBe(1)
  // A number that SQLite may parse wrong is bound in another way.
  for (const age of [0.1, 'x', null]) statementOf(pages, read(age))
  expect(compiled).toBe(4)
})

it('changes of fields that are named as parts of a change are told apart', () => {
  const runner = { candidates: undefined, shapes: { all: new Map() } } as unknown as Runner
  const writes = () => openTarget(people, runner).writes
  const kept = writes()
  const filter = where('_id', 'eq', 'p1')
  const odd: Change[] = [
    { unset: ['any', 'set', 'score'] },
    { unset: ['any'], set: { score: 1 } },
    { set: { score: 1 }, unset: ['any'] },
    { push: { any: { value: 1 } } },
    { pull: { any: { key: 'push', value: 1 } } },
  ]
  for (const change of [...odd, ...odd])
    expectSame(kept.update(filter, change), writes().update(filter, change))
})

it.each(seeds(1))('so is a change (seed %i)', (seed) => {
  const random = new Random(seed)
  const runner = { candidates: undefined, shapes: { all: new Map() } } as unknown as Runner
  const writes = () => openTarget(people, runner).writes
  const kept = writes()
  for (let turn = 0; turn < 3000; turn += 1) {
    const id = `p${random.below(9)}`
    const filter = random.chance(70) ? where('_id', 'eq', id) : where('age', 'lt', turn % 5)
    const value = () => random.of(['A', 'Bo', id, 5, 0.1, true, null, undefined, new Date(turn)])
    const fields = (names: readonly [string, ...string[]]) =>
      Object.fromEntries(random.list(2, () => [random.of(names), value()]))
    const held = random.chance(50) ? { expect: fields(['role', 'name', 'any']) } : undefined
    const cap = random.of([undefined, 3, turn])
    const change: Change = {
      set: fields(['name', 'any', 'address.city']),
      ...(random.chance(20) && { unset: [random.of(['by', 'address'])] }),
      ...(random.chance(20) && { increment: { age: turn % 7 } }),
      ...(random.chance(20) && {
        push: { [random.of(['marks', 'tags'])]: { value: value(), ...(cap && { cap }) } },
      }),
      ...(random.chance(20) && {
        pull: { [random.of(['sessions', 'homes'])]: { key: 'id', value: id } },
      }),
    }
    expectSame(kept.update(filter, change, held), writes().update(filter, change, held))
  }
})

it('values of a change are in lists of which none is long, and no more of them than D1 takes', () => {
  for (const count of [500, 4000]) {
    const parameters = new Parameters()
    const value = (at: number) => `${at}`.padEnd(1000)
    const texts = Array.from({ length: count }, (_, at) => parameters.json(value(at)))
    const { values } = parameters.statement('')
    const lists = values.map((list) => JSON.parse(String(list)))
    for (const [at, text] of texts.entries()) {
      const [, number, place] = /^\(\?(\d+) -> (\d+)\)$/.exec(text) ?? []
      expect(lists[Number(number) - 1][Number(place)]).toBe(value(at))
    }
    expect(lists.length).toBeLessThanOrEqual(90)
    const longest = Math.max(...lists.slice(0, 89).map(({ length }) => length))
    expect(longest).toBeLessThan(20)
  }
})

it('long values that clients choose are not kept, with statements or with counts', async () => {
  const connection = new Connection(':memory:')
  const prepare = vi.spyOn(connection.db, 'prepare')
  const ask = (value: string) => connection.rows({ sql: 'SELECT ?1 AS count', values: [value] })
  for (const value of ['7', 'x'.repeat(60_000), '7', '8']) expect(ask(value)[0]?.count).toBe(value)
  expect(prepare).toHaveBeenCalledTimes(2)
  const rows = vi.fn((statement: Statement) => connection.rows(statement))
  const counts = new Counts({ quick: rows, rows })
  for (const length of [1, 5000, 5000]) {
    const statement = { sql: 'SELECT length(?1) AS count', values: ['x'.repeat(length)] }
    const { signal } = new AbortController()
    expect(await counts.of(people, everything, statement, { signal })).toBe(length)
  }
  // Nor is the request that they were counted for, to which its signal leads.
  const kept = [...(counts.kept.get(people.name)?.counts.values() ?? [])]
  expect(kept.map(({ hints }) => hints)).toEqual([{}])
  connection.close()
})

function expectSame(one: Statement, other: Statement): void {
  expect(written(one)).toBe(written(other))
  expect(one.effect).toEqual(other.effect)
}

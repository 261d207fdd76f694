import { expect, it } from 'vitest'
import { Parameters, type Statement } from '../../../adapters/stores/sqlite/layout/sql.ts'
import { compileFilter } from '../../../adapters/stores/sqlite/statements/filter.ts'
import { CompiledPages, compilePage } from '../../../adapters/stores/sqlite/statements/page.ts'
import { where } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { Random, randomFilter, randomSort } from '../../../extras/contract/store/random.ts'
import type { Filter, Scalar } from '../../../src/ports/filter.ts'
import type { Read } from '../../../src/ports/records.ts'
import { seeds } from '../../runs.ts'

let compiled = 0

function compile(read: Read): Statement {
  compiled += 1
  const context = { shape: people.shape, shadows: new Map(), parameters: new Parameters() }
  const conditions = [compileFilter(read.filter, context)]
  const sql = compilePage({ columns: 'doc', table: 'people' }, read, conditions, context)
  return context.parameters.statement(sql)
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
  const sort = randomSort(random)
  const positions: readonly [Scalar, ...Scalar[]] = ['a', 'b', 1, 2, 0.1, null, true, new Date(0)]
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
    const pages = new CompiledPages()
    for (let turn = 0; turn < 3000; turn += 1) {
      const read = randomRead(random)
      expect(written(pages.statementOf(read, 'doc', compile))).toBe(written(compile(read)))
    }
  },
)

it('a page is not compiled again for other values', () => {
  const pages = new CompiledPages()
  const read = (value: Scalar): Read => ({ filter: where('age', 'gt', value), sort: [], limit: 5 })
  compiled = 0
  for (const age of [1, 2, 5, 2]) pages.statementOf(read(age), 'doc', compile)
  expect(compiled).toBe(1)
  // A number that SQLite may parse wrong is bound in another way.
  for (const age of [0.1, 'x', null]) pages.statementOf(read(age), 'doc', compile)
  expect(compiled).toBe(4)
})

import { expect, it } from 'vitest'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import {
  DEADLINE,
  withoutVainChecks,
} from '../../../adapters/stores/sqlite/connection/functions.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { openCollection } from '../../../adapters/stores/sqlite/statements/collection.ts'
import { keys, where } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { Random, randomFields, randomFilter } from '../../../extras/contract/store/random.ts'
import { everything, type Filter } from '../../../src/ports/store/filter.ts'
import { seeds } from '../../runs.ts'
import { newFile } from './file.ts'

const schema = { ...people, indexes: [keys('-age'), keys('name'), keys('tenant', '-age')] }

it.each(seeds(1))(
  'A read that does not check the time reads no row in vain (seed %i)',
  async (seed) => {
    const random = new Random(seed)
    const path = newFile()
    const store = sqliteStore({ path })
    await store.prepare([schema])
    const filled = store.collection(schema)
    for (let at = 0; at < 300; at += 1) {
      const { email, slug, ...record } = randomFields(random)
      await filled.insert({ ...record, _id: at.toString(16).padStart(24, '0') })
    }
    await store.close()

    const connection = new Connection(path)
    let visited = 0
    connection.db.function('visited', { varargs: true }, () => {
      visited += 1
      return 1
    })
    const planOf = (sql: string) =>
      connection
        .rows({ sql: `EXPLAIN QUERY PLAN ${sql}`, values: [] })
        .map((row) => `${row.detail}`)
    let [free, vain] = [0, 0]
    const counted = 'visited(rowid)'
    const collection = openCollection(schema, {
      deadline: DEADLINE,
      unchecked: (sql, filter) => {
        const left = withoutVainChecks(sql, filter, planOf)
        if (left === sql) return sql
        free += 1
        return `${sql} -- free`
      },
      read: (statement) => {
        visited = 0
        // SQLite compiles a statement with such a LIMIT anew each time.
        expect(statement.sql).not.toMatch(/LIMIT \?/)
        const sql = statement.sql.replaceAll(DEADLINE, counted)
        const rows = connection.rows({ ...statement, sql })
        if (statement.sql.endsWith('-- free')) expect(visited, sql).toBeLessThanOrEqual(3 * 11)
        else vain = Math.max(vain, visited)
        return rows
      },
      count: async () => 0,
      write: async () => ({ rows: [], changes: 0 }),
    })
    const filters: readonly (() => Filter)[] = [
      () => everything,
      () => where('name', 'eq', random.of(['a', 'ab', 'z z'])),
      () => where('age', random.of(['eq', 'gt', 'gte', 'lt', 'lte']), random.below(6) - 2),
      () => randomFilter(random),
    ]
    for (let turn = 0; turn < 600; turn += 1) {
      const sort = [...random.of([keys('-age'), keys('name'), keys('score'), []]), ...keys('_id')]
      const after = sort.map(({ field }) =>
        field === '_id' ? '0'.repeat(24) : random.of([null, 1, 'a']),
      )
      const filter = random.of([everything, ...filters.map((make) => make())])
      await collection.find({ filter, sort, limit: 11, ...(random.chance(50) && { after }) })
    }
    connection.close()
    expect(free).toBeGreaterThan(5)
    expect(vain).toBeGreaterThan(33)
  },
)

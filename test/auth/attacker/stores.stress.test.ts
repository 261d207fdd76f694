import { describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import type { Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { sqliteOnDisk } from '../../stores/sqlite/on-disk.ts'
import { attack } from './programme.ts'

/** Before a release there are 20 times as many programmes, which take as much longer. */
const timeout = Math.max(600_000, runs(600_000))
const title = 'nothing that an attacker was ever shown opens what is not theirs'

async function attacks(open: () => Store, first: number, count: number): Promise<void> {
  for (let seed = first; seed < first + runs(count); seed += 1) {
    expect(await attack(open, seed)).toBeUndefined()
  }
}

describe('SQLite', () => {
  it(title, { timeout }, async () => {
    await attacks(await sqliteOnDisk(), 1001, 6)
  })
})

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  describe('PostgreSQL', () => {
    it(title, { timeout }, () => attacks(() => postgresStore({ url, schema }), 2001, 2))
  })
})

await withService('mongo', ({ url }) => {
  const database = freshDatabases(url)()
  describe('MongoDB', () => {
    it(title, { timeout }, () => attacks(() => mongoStore({ url, database }), 3001, 2))
  })
})

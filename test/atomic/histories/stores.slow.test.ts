import { expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/index.ts'
import { newFile } from '../../contract/store/file.ts'
import { withService } from '../../services/shared.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { historyOver, within } from './run.ts'
import { worldOn } from './world.ts'

/** Registers the trial for two stores over the same new records. */
function histories(name: string, place: () => () => Store): void {
  it(`${name}: some order of all calls explains what each of them saw`, async () => {
    const open = place()
    const apps = [worldOn(open()), worldOn(open())]
    // One after the other: two that make the tables at the same time would wait for each other.
    for (const app of apps) await app.ready()
    const { faults, counts } = await historyOver(apps.map(within), { clients: 8, ms: 1500 })
    for (const app of apps) await app.close()
    expect(faults.slice(0, 20)).toEqual([])
    expect(counts['step 200']).toBeGreaterThan(0)
  }, 60_000)
}

const onFile = (open: (path: string) => Store) => () => {
  const path = newFile()
  return () => open(path)
}
histories(
  'SQLite',
  onFile((path) => sqliteStore({ path })),
)
histories(
  'libSQL',
  onFile((path) => libsqlStore({ url: `file:${path}` })),
)

const fresh = await freshD1(1)
histories('D1', () => {
  const binding = fresh()
  return () => d1Store(binding)
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  histories('PostgreSQL', () => {
    const schema = fresh()
    return () => postgresStore({ url, schema })
  })
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  histories('MongoDB', () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  })
})

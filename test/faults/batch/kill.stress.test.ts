/** kill -9 while batches are written, in short; `npm run faults -- batch` kills 300 times. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import type { Where } from './books.ts'
import { killBatches } from './kill.ts'

/** Registers the trial for the store with this name. */
function kills(store: string, place: () => Where): void {
  it(`${store}: a batch that is killed is whole or has not been`, {
    timeout: 600_000,
  }, async () => {
    const toll = await killBatches(runs(2), place(), 3)
    console.info(`${store}, kills:`, toll)
    expect(toll.broken).toEqual([])
    expect(toll.answered).toBeGreaterThan(0)
  })
}

kills('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-batch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { path: join(folder, 'books.db') }
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  kills('PostgreSQL', () => ({ url, schema: fresh() }))
})

await withService('mongo', ({ url }) => {
  // Dropping the database would wait for the transactions of the killed processes, a minute.
  kills('MongoDB', () => ({ url, database: `batch-${crypto.randomUUID()}` }))
})

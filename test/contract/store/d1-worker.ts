/**
 * Runs the case that the path names, on an emptied database.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { runCase } from './run-case.ts'

export default {
  async fetch(request: Request, { DB }: { DB: D1Binding }): Promise<Response> {
    await empty(DB)
    return runCase(request, d1Store(DB))
  },
}

async function empty(database: D1Binding): Promise<void> {
  const { results } = await database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*' AND name NOT GLOB 'sqlite*'",
    )
    .all()
  const drops = results.map(({ name }) => database.prepare(`DROP TABLE IF EXISTS "${name}"`))
  if (drops.length > 0) await database.batch(drops)
}

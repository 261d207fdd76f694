/**
 * Runs the case that the path names, on an emptied database.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import type { Contract } from '../../../extras/contract/index.ts'
import { storeContract } from '../../../extras/contract/store/contract.ts'
import type { Store } from '../../../src/ports/store.ts'

const cases: Contract<Store> = storeContract

export default {
  async fetch(request: Request, { DB }: { DB: D1Binding }): Promise<Response> {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
    await empty(DB)
    const store = d1Store(DB)
    try {
      await cases[name]?.(store)
      return new Response(name in cases ? 'kept' : 'no such case', {
        status: name in cases ? 200 : 404,
      })
    } catch (error) {
      return new Response(String((error as Error)?.stack ?? error), { status: 500 })
    } finally {
      await store.close()
    }
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

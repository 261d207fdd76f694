/**
 * Runs the case that the path names in the storage of a Durable Object, which has another name each time.
 *
 * @module
 */

import {
  type DurableStorage,
  durableStore,
} from '../../../adapters/stores/sqlite/durable-sqlite.ts'
import type { Contract } from '../../../extras/contract/index.ts'
import { storeContract } from '../../../extras/contract/store/contract.ts'
import type { Store } from '../../../src/ports/store.ts'

const cases: Contract<Store> = storeContract

export class Cases {
  readonly #storage: DurableStorage

  constructor({ storage }: { readonly storage: DurableStorage }) {
    this.#storage = storage
  }

  async fetch(request: Request): Promise<Response> {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
    const store = durableStore(this.#storage)
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
  }
}

interface Env {
  readonly CASES: {
    newUniqueId(): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

export default {
  fetch: (request: Request, { CASES }: Env): Promise<Response> =>
    CASES.get(CASES.newUniqueId()).fetch(request),
}

/**
 * One case of the store contract, inside a worker.
 *
 * @module
 */

import type { Contract } from '../../../extras/contract/index.ts'
import { storeContract } from '../../../extras/contract/store/contract.ts'
import type { Store } from '../../../src/ports/store/store.ts'

const cases: Contract<Store> = storeContract

/** Runs the case that the path names on an empty `store`; the response says what broke. */
export async function runCase(request: Request, store: Store): Promise<Response> {
  const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
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

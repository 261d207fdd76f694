/**
 * Runs the case that the path names in the storage of a Durable Object, which has another name each time.
 *
 * @module
 */

import {
  type DurableStorage,
  durableStore,
} from '../../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { runCase } from './run-case.ts'

export class Cases {
  readonly #storage: DurableStorage

  constructor({ storage }: { readonly storage: DurableStorage }) {
    this.#storage = storage
  }

  fetch(request: Request): Promise<Response> {
    return runCase(request, durableStore(this.#storage))
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

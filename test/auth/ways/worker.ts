/**
 * Sequences in a Worker, on D1: a POST with `{ count, seed }`, or with `{ seed, every }` for pairs, answers what broke the
 * invariant, or null.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { explore, explorePairs } from './sequences.ts'

interface Asked {
  readonly count?: number
  readonly seed: number
  readonly every?: number
}

export default {
  async fetch(request: Request, { DB }: { DB: D1Binding }): Promise<Response> {
    const { count = 0, seed, every } = (await request.json()) as Asked
    const store = d1Store(DB)
    const found = await (every ? explorePairs(store, every, seed) : explore(store, count, seed))
    return Response.json(found ?? null)
  },
}

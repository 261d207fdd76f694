/**
 * Sequences in a Worker, on D1: a POST with `{ count, seed }` answers what broke the invariant, or null.
 *
 * @module
 */

import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/d1.ts'
import { explore } from './sequences.ts'

export default {
  async fetch(request: Request, { DB }: { DB: D1Binding }): Promise<Response> {
    const { count, seed } = (await request.json()) as { count: number; seed: number }
    return Response.json((await explore(d1Store(DB), count, seed)) ?? null)
  },
}

/**
 * A Worker that loads its app with the first request, as frameworks do.
 *
 * @module
 */

import type { D1Binding } from '../../adapters/stores/sqlite/calls/d1.ts'

export default {
  async fetch(request: Request, env: { readonly DB: D1Binding }): Promise<Response> {
    const { appOn } = await import('./lazy-app.ts')
    return appOn(env.DB).handle(request)
  },
}

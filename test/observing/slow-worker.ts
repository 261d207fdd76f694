import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { slowLines } from './slow-lines.ts'

export default {
  fetch: async (_request: Request, env: { readonly DB: D1Binding }): Promise<Response> =>
    Response.json(await slowLines(d1Store(env.DB))),
}

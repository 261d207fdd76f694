/**
 * Records that all may read if they are public, that only their owners change, and that nobody deletes.
 *
 * @module
 */

import * as z from 'zod/mini'
import {
  type ApiRequest,
  type App,
  createRouter,
  defineModel,
  HttpError,
} from '../../../src/index.ts'

const Limited = defineModel('Limited', {
  fields: { owner: z.string(), public: z.boolean(), text: z.string() },
})

const userOf = ({ headers }: ApiRequest): string => headers.get('x-user') ?? 'nobody'

/** `app` with the router. */
export function withLimits(app: App): App {
  const router = createRouter({
    model: Limited,
    middlewares: [],
    // Ids of two Durable Objects that serve in turn are in no order.
    orderBy: 'text',
    allowedFields: ['owner', 'public', 'text'],
    access: {
      create(request) {
        if (!request.headers.has('x-user')) throw new HttpError(401, 'Authentication required.')
      },
      remove: false,
    },
    scope: {
      read: (request) => ({ or: [{ owner: userOf(request) }, { public: true }] }),
      write: (request) => ({ owner: userOf(request) }),
    },
  })
  return app.mount('/limited', router)
}

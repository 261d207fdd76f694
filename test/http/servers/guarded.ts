/**
 * Routes behind the guards of `fieldgate/guards`.
 *
 * @module
 */

import * as z from 'zod/mini'
import {
  apiKey,
  cors,
  idempotency,
  rateLimit,
  readOnly,
  secureHeaders,
} from '../../../src/guards/index.ts'
import { type App, createRouter, defineModel, type Guard } from '../../../src/index.ts'

const Guarded = defineModel('Guarded', { fields: { name: z.string() } })

/** So long that no test sees its end. */
const CENTURY = 100 * 365 * 86_400

const routers: Readonly<Record<string, readonly Guard[]>> = {
  cors: [cors({ origins: ['https://app.example.com'], credentials: true }), secureHeaders()],
  closed: [readOnly()],
  keys: [apiKey({ keys: ['a key for the tests'.replaceAll(' ', '-')] })],
  limited: [
    rateLimit({
      limit: 2,
      windowSeconds: CENTURY,
      key: ({ headers }) => headers.get('x-client') ?? undefined,
    }),
  ],
  once: [idempotency({ ttlSeconds: CENTURY })],
}

/** `app` with the routes. */
export function withGuards(app: App): App {
  for (const [name, middlewares] of Object.entries(routers)) {
    app.mount(
      `/guards/${name}`,
      createRouter({ model: Guarded, allowedFields: ['name'], middlewares }),
    )
  }
  return app
}

/**
 * What the API serves, on any store.
 *
 * @module
 */

import { type AppOptions, createApp, createAuthRouter, createRouter, type Store } from 'fieldgate'
// @if workers
import { commonPasswords } from 'fieldgate/common-passwords'
// @end
import { cors, rateLimit, secureHeaders } from 'fieldgate/guards'
import { health } from 'fieldgate/health'
import { openapi } from 'fieldgate/openapi'
// @if passkeys
import { passkeys } from 'fieldgate/passkeys'
// @end
import * as z from 'zod'
import type { Config } from './config.ts'
import { Note } from './models.ts'

/** The app. Its type has all mounts: `createClient<Api>(url)` of `fieldgate/client` is checked against it. */
export type Api = ReturnType<typeof makeApp>

/** Makes the app on `store`. */
export function makeApp(
  store: Store,
  config: Pick<
    Config,
    // @if passkeys
    | 'APP_ORIGIN'
    // @end
    | 'APP_SECRET'
    | 'CORS_ORIGINS'
  >,
  options: Omit<AppOptions, 'store'> = {},
) {
  const auth = createAuthRouter({
    // The accounts' own model, 'User', is made of these options.
    fields: { name: z.string().max(100).optional() },
    token: { secret: config.APP_SECRET },
    refresh: { enabled: true },
    registerFields: ['name'],
    updateFields: ['name'],
    // @if workers
    password: { common: commonPasswords },
    // @end
    // @if passkeys
    methods: [
      passkeys({
        rpId: new URL(config.APP_ORIGIN).hostname,
        rpName: '{{name}}',
        origins: [config.APP_ORIGIN],
      }),
    ],
    // @end
  })
  const app = createApp({ store, secret: config.APP_SECRET, ...options })
  app.use(cors({ origins: config.CORS_ORIGINS }))
  app.use(secureHeaders())
  app.use(rateLimit({ limit: 300, windowSeconds: 60 }))
  return app
    .mount('/', health())
    .mount('/auth', auth.router)
    .mount(
      '/notes',
      createRouter({
        model: Note,
        // Users reach their own notes only; the notes of others don't exist for them.
        ownedBy: 'owner',
        orderBy: '-createdAt',
        query: ['pinned'],
        search: ['title', 'text'],
        allowedFields: ['title', 'text', 'pinned'],
      }),
    )
    .mount(
      '/docs',
      openapi({
        title: '{{name}}',
        version: '1.0',
        // @if workers
        script: '/scalar.js',
        // @end
      }),
    )
}

/**
 * What the API serves, on any store.
 *
 * @module
 */

import { type AppOptions, createApp, createRouter, type Store } from 'fieldgate'
import { apiKey, cors, rateLimit, secureHeaders } from 'fieldgate/guards'
import { health } from 'fieldgate/health'
import { openapi } from 'fieldgate/openapi'
import type { Config } from './config.ts'
import { Note } from './models.ts'

/** The app. Its type has all mounts: `createClient<Api>(url)` of `fieldgate/client` is checked against it. */
export type Api = ReturnType<typeof makeApp>

/** Makes the app on `store`. */
export function makeApp(
  store: Store,
  config: Pick<Config, 'API_KEY' | 'CORS_ORIGINS'>,
  options: Omit<AppOptions, 'store'> = {},
) {
  const app = createApp({ store, ...options })
  app.use(cors({ origins: config.CORS_ORIGINS }))
  app.use(secureHeaders())
  app.use(rateLimit({ limit: 300, windowSeconds: 60 }))
  return app
    .mount('/', health())
    .mount(
      '/notes',
      createRouter({
        model: Note,
        middlewares: [apiKey({ keys: [config.API_KEY] })],
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

/**
 * Photos on Cloudflare Workers: records in D1, files in R2, links to private files that expire after an hour.
 *
 * In this repository `npm run wrangler -- dev --config examples/worker-d1-r2.toml`. In your own project
 * `npm install fieldgate zod`, copy both files, and run `npx wrangler dev --config worker-d1-r2.toml`.
 *
 *     curl -F title=Delft -F image=@delft.jpg localhost:8787/photos
 *     curl 'localhost:8787/photos?s=delft'
 *
 * @module
 */

import { createApp, createRouter, defineModel } from 'fieldgate'
import { type D1Binding, d1Store } from 'fieldgate/d1'
import { type R2Binding, r2Files } from 'fieldgate/r2'
import { worker } from 'fieldgate/workers'
import * as z from 'zod/mini'

/** What worker-d1-r2.toml binds. */
interface Env {
  readonly DB: D1Binding
  readonly FILES: R2Binding
  /** Signs links and cursors: `npx wrangler secret put SECRET`, 32 characters or more. */
  readonly SECRET: string
}

const Photo = defineModel('Photo', {
  fields: { title: z.string().check(z.minLength(1)), image: z.string() },
  timestamps: true,
  indexes: ['-createdAt'],
})

export default worker<Env>((env) => {
  const app = createApp({
    store: d1Store(env.DB),
    // The app serves the files itself, below /uploads.
    files: r2Files(env.FILES, { secret: env.SECRET }),
    secret: env.SECRET,
  })
  return app.mount(
    '/photos',
    createRouter({
      model: Photo,
      // Anyone may add photos. Put guards here before you deploy it.
      middlewares: [],
      search: ['title'],
      orderBy: '-createdAt',
      allowedFields: ['title', 'image'],
      upload: {
        path: 'photos/',
        fields: [{ name: 'image' }],
        signUrls: 3600,
        allowedMimeTypes: ['image/jpeg', 'image/png', 'image/webp'],
      },
    }),
  )
})

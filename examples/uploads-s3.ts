/**
 * Photos in an S3 bucket, made smaller by sharp before they are stored, with links that expire after an hour.
 *
 * In this repository `npm run example examples/uploads-s3.ts`. In your own project
 * `npm install fieldgate zod sharp @aws-sdk/client-s3 aws4fetch`, copy this file, and run `node uploads-s3.ts`. The bucket comes
 * from the environment: S3_ENDPOINT (without it, AWS in S3_REGION), S3_BUCKET_NAME, S3_SPACES_KEY and S3_SPACES_SECRET.
 *
 *     curl -F title=Delft -F image=@delft.jpg localhost:3000/photos
 *     curl 'localhost:3000/photos?sort=-createdAt&limit=10'
 *
 * @module
 */

import process from 'node:process'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { serve } from 'fieldgate/node'
import { s3Files } from 'fieldgate/s3'
import { sharpImages } from 'fieldgate/sharp'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'

const Photo = defineModel('Photo', {
  fields: {
    title: z.string().min(1).max(200),
    image: z.string(),
    details: z.array(z.string()).optional(),
  },
  timestamps: true,
  indexes: ['-createdAt'],
})

const app = createApp({
  store: sqliteStore({ path: process.env.DATABASE ?? 'photos.db' }),
  files: s3Files(),
  images: sharpImages(),
})

app.mount(
  '/photos',
  createRouter({
    model: Photo,
    // Anyone may add photos. Put guards here before you deploy it.
    middlewares: [],
    sortableFields: ['createdAt'],
    search: ['title'],
    allowedFields: ['title', 'image', 'details'],
    upload: {
      path: 'photos/',
      fields: [{ name: 'image' }, { name: 'details', maxCount: 5 }],
      signUrls: 3600,
      imgOptimizations: 'medium',
      allowedMimeTypes: ['image/jpeg', 'image/png', 'image/webp'],
    },
  }),
)

const { url } = await serve(app, { port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
console.log(`Photos on ${url}/photos`)

/**
 * The app behind the tests of uploads in other processes: one model, one file field, guards that tell memory.
 *
 * @module
 */

import * as z from 'zod'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type Model,
  type UploadOptions,
  type Values,
} from '../../../../src/index.ts'

const fields = {
  title: z.string().optional(),
  image: z.string().optional(),
  others: z.array(z.string()).optional(),
}

/** A photo with its file fields. */
export const Photo: Model<Values<typeof fields>> = defineModel('Photo', { fields })

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The app on the given stores, with the default limits of uploads unless `upload` says otherwise. */
export function album(options: AppOptions, upload: UploadOptions = {}): App {
  const app = createApp({ logger: silent, ...options })
  app.mount(
    '/photos',
    createRouter({
      model: Photo,
      allowedFields: ['title', 'image', 'others'],
      upload: { ...upload, fields: [{ name: 'image' }, { name: 'others', maxCount: 10 }] },
    }),
  )
  return app
}

/**
 * What the API stores.
 *
 * @module
 */

import { defineModel } from 'fieldgate'
import * as z from 'zod'

/** A note. */
export const Note = defineModel('Note', {
  fields: {
    title: z.string().min(1).max(200),
    text: z.string().max(10_000).optional(),
    pinned: z.boolean().default(false),
  },
  timestamps: true,
  indexes: ['-createdAt', ['pinned', '-createdAt']],
})

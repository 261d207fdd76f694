/**
 * What the API stores.
 *
 * @module
 */

import { defineModel, ref } from 'fieldgate'
import * as z from 'zod'

/** A note, which only its owner sees. */
export const Note = defineModel('Note', {
  fields: {
    owner: ref('User'),
    title: z.string().min(1).max(200),
    text: z.string().max(10_000).optional(),
    pinned: z.boolean().default(false),
  },
  timestamps: true,
  indexes: [
    ['owner', '-createdAt'],
    ['owner', 'pinned', '-createdAt'],
  ],
})

/**
 * What the API stores.
 *
 * @module
 */

import { defineModel, ref, userFields } from 'fieldgate'
import * as z from 'zod'

/** What the fields of a user and the routes of accounts have to agree on. */
export const accounts = { refresh: { enabled: true } } as const

/** Someone with an account. */
export const User = defineModel('User', {
  fields: { name: z.string().max(100).optional(), ...userFields(accounts) },
  unique: ['email'],
  timestamps: true,
})

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

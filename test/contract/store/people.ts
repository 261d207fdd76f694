/**
 * The collection that the store contract works on: every kind of field, alone, nested and in lists.
 *
 * @module
 */

import * as z from 'zod'
import { defineModel } from '../../../src/model/define.ts'
import type { Model } from '../../../src/model/model.ts'
import { ref } from '../../../src/model/reference.ts'
import type { CollectionSchema, Fields } from '../../../src/ports/store.ts'

const Person = defineModel('Person', {
  fields: {
    name: z.string().optional(),
    age: z.number().nullish(),
    score: z.number().optional(),
    member: z.boolean().optional(),
    born: z.date().optional(),
    friend: ref('Person').nullish(),
    friends: z.array(ref('Person')).optional(),
    tags: z.array(z.string()).optional(),
    marks: z.array(z.number()).optional(),
    visits: z.array(z.date()).optional(),
    address: z.object({ city: z.string().nullish(), since: z.date().optional() }).optional(),
    homes: z
      .array(
        z.object({ city: z.string().nullish(), rooms: z.number().optional(), extra: z.unknown() }),
      )
      .optional(),
    any: z.any(),
    by: z.record(z.string(), z.date()).optional(),
    email: z.string().nullish(),
    tenant: z.string().nullish(),
    slug: z.string().nullish(),
    sessions: z.array(z.object({ id: z.string(), n: z.number().optional() })).nullish(),
    "odd 'name$[0]": z.string().optional(),
  },
  timestamps: true,
  unique: ['email', ['tenant', 'slug']],
  indexes: ['-score', ['member', '-age']],
} as never) as unknown as Model

/** The collection as a store sees it. */
export const people: CollectionSchema = {
  name: 'people',
  idType: 'objectId',
  shape: Person.shape,
  unique: [['email'], ['tenant', 'slug']],
  indexes: Person.indexes,
  searchable: ['name', 'tags', 'address.city'],
}

let made = 0

/** A new id, ascending. */
export function newId(): string {
  made += 1
  return `6${made.toString(16).padStart(23, '0')}`
}

/** A record with an id of its own. */
export function person(fields: Fields): Fields {
  return { _id: newId(), ...fields }
}

/** The collection that the store contract uses: every kind of field, alone, nested and in lists. */

import * as z from 'zod/mini'
import { defineModel } from '../../../src/model/define.ts'
import type { Model } from '../../../src/model/model.ts'
import { ref } from '../../../src/model/shape/reference.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'

const text = z.optional(z.string())
const anyText = z.nullish(z.string())
const number = z.optional(z.number())
const date = z.optional(z.date())

const Person = defineModel('Person', {
  fields: {
    name: text,
    age: z.nullish(z.number()),
    score: number,
    member: z.optional(z.boolean()),
    born: date,
    friend: z.nullish(ref('Person')),
    friends: z.optional(z.array(ref('Person'))),
    tags: z.optional(z.array(z.string())),
    marks: z.optional(z.array(z.number())),
    visits: z.optional(z.array(z.date())),
    address: z.nullish(z.object({ city: anyText, since: date })),
    homes: z.optional(z.array(z.object({ city: anyText, rooms: number, extra: z.unknown() }))),
    any: z.any(),
    by: z.optional(z.record(z.string(), z.date())),
    email: anyText,
    tenant: anyText,
    slug: anyText,
    sessions: z.nullish(z.array(z.object({ id: z.string(), n: number }))),
    "odd 'name$[0]": text,
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

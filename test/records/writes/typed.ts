/**
 * A model with a field of each type, and a way to serve any model with every field writable.
 *
 * @module
 */

import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Model,
  type RecordCollection,
  ref,
  type Values,
} from '../../../src/index.ts'
import { type Service, service } from '../service.ts'

/** A router over `model`, every field of which is writable, and its records as stored. */
export function served<R>(model: Model<R>): Service & { readonly stored: RecordCollection<R> } {
  const made = service()
  made.app.mount('/things', createRouter({ model, blockedFields: [] }))
  return { ...made, stored: made.app.store.collection(model) }
}

const fields = {
  name: z.string(),
  size: z.number().optional(),
  open: z.boolean().optional(),
  at: z.date().optional(),
  owner: ref('SchemaTyped').optional(),
  kind: z.enum(['a', 'b']).optional(),
  tags: z.array(z.string()).optional(),
  sizes: z.array(z.number()).optional(),
  place: z.object({ city: z.string(), zip: z.number(), since: z.date() }).optional(),
  scores: z.record(z.string(), z.number()).optional(),
  any: z.any().optional(),
}

/** A model with a field of each type. */
export const Typed: Model<Values<typeof fields>> = defineModel('SchemaTyped', { fields })

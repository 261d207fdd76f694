/** Values that records show and nothing finds, because the store compares with another type: a string that is a reference now. */

import type { Model } from '../../model/model.ts'
import { referencesOf } from '../../model/shape/reference.ts'
import type { CollectionSchema, Store } from '../../ports/store/store.ts'
import { type Progress, Tally, told } from '../tally.ts'
import type { Problem } from './record.ts'

/** Those of a model with references, of about `total` records; other models hold none, and are not read again. */
export async function unmatchedIn(
  { copying }: Store,
  model: Model,
  schema: CollectionSchema,
  { total, progress }: { readonly total: number; readonly progress: Progress },
): Promise<readonly Problem[]> {
  const all = referencesOf(model).length > 0 ? copying?.foreign?.(schema) : undefined
  const tally = new Tally<{ readonly field: string }>()
  for await (const { unmatched = [] } of all
    ? told(all, progress, `${model.name}, types`, total)
    : []) {
    // A list may hold several, of one record.
    const once = new Map(unmatched.map((one) => [`${one.id} ${one.field}`, one]))
    for (const { id, field } of once.values()) tally.add({ field }, id)
  }
  return tally.all().map((one) => ({ model: model.name, problem: 'unmatched', ...one }))
}

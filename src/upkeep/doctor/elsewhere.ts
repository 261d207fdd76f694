/**
 * Whether a model's records may be in another collection than the one that the model names.
 *
 * @module
 */

import type { Model } from '../../model/model.ts'
import { collectionName } from '../../model/plural.ts'
import { about, type Finding } from './finding.ts'

/** `taken` are the collections of the app's models; `total` is the number of the model's records. */
export function elsewhere(
  model: Model,
  collections: readonly string[],
  total: number,
  taken: ReadonlySet<string>,
): { readonly problems: readonly Finding[]; readonly notes: readonly Finding[] } {
  if (total > 0) return { problems: [], notes: [] }
  const { name, collection } = model
  const state = collections.includes(collection) ? 'is empty' : "doesn't exist"
  const found = (note: string) =>
    about(model, 'collection', '', `the collection '${collection}' ${state}${note}`)
  const other = collections.find((one) => !taken.has(one) && likely(name, collection, one))
  if (other === undefined) return { problems: [], notes: [found('')] }
  const advice = `, but there is '${other}'. If the records are there, write collection: '${other}' in the model`
  return { problems: [found(advice)], notes: [] }
}

/** Whether a program might have stored such records there. */
function likely(name: string, collection: string, other: string): boolean {
  const lower = other.toLowerCase()
  const word = name.toLowerCase()
  // The last two are what simpler rules make of a name.
  const names = [collectionName(name), collection.toLowerCase(), word, `${word}s`, `${word}es`]
  return names.includes(lower)
}

/** At start-up: whether records that were stored before their model excluded overlaps overlap each other. */

import type { Model } from '../../model/model.ts'
import type { Exclusion } from '../../ports/store/exclusion.ts'
import type { Collection } from '../../ports/store/store.ts'
import { overlapsIn } from '../check/overlaps.ts'
import { EXAMPLES } from '../tally.ts'

/** Rejects if records of `model` overlap. Those of a collection that was looked at once are not read again. */
export async function refuseOverlaps(
  model: Model,
  stored: Collection,
  history: { has(fact: string): Promise<boolean>; add(fact: string): Promise<void> },
): Promise<void> {
  for (const exclusion of model.exclude ?? []) {
    const place = placeOf(model, exclusion)
    if (await history.has(place)) continue
    const pairs: string[] = []
    for await (const pair of overlapsIn(model, stored, exclusion)) {
      if (pairs.push(pair.join(' and ')) === EXAMPLES) break
    }
    if (pairs.length > 0) {
      throw new Error(
        `'${model.collection}' already holds records that overlap in ${exclusion.range.join(', ')}: ${pairs.join(', ')}. Make them differ, or drop it from 'exclude'`,
      )
    }
    await history.add(place)
  }
}

/** Which of `facts` are of rules that one of `models` had in another version: this one writes without asking them. */
export function endedRules(facts: Iterable<string>, models: readonly Model[]): string[] {
  const kept = new Set(models.flatMap((model) => model.exclude?.map((one) => placeOf(model, one))))
  return [...facts].filter(
    (fact) => !kept.has(fact) && models.some((model) => fact.startsWith(placeOf(model))),
  )
}

/** By the collection, in which another version may have the records under another name of the model. */
function placeOf({ collection }: Model, exclusion?: Exclusion): string {
  return `exclude in ${collection}: ${exclusion ? JSON.stringify(exclusion) : ''}`
}

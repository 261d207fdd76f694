/** Collections each of whose writes is one step. */

import type { Collection, StepResult, WriteAction, WriteOutcome } from '../../ports/store/store.ts'
import type { Author } from './author.ts'

export type Writing = Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'>

/** The writes of a collection, each as the one step that `take` takes. */
export function writingBySteps(take: (action: WriteAction) => Promise<WriteOutcome>): Writing {
  const done = async (action: WriteAction): Promise<StepResult | undefined> => {
    const outcome = await take(action)
    return 'results' in outcome ? outcome.results[0] : undefined
  }
  return {
    insert: async (record) => (await done({ insert: record }))?.records[0],
    update: async (update, change, options) =>
      (await done({ update, change, ...(options && { options }) }))?.records[0] ?? null,
    updateMany: async (updateMany, change) => (await done({ updateMany, change }))?.count ?? 0,
    delete: async (filter, options) =>
      (await done({ delete: filter, ...(options && { options }) }))?.records[0] ?? null,
  }
}

/** `stored`, each write of which is a step that `take` takes for `author`: only such are noted in the log of changes. */
export function loggedCollection(
  stored: Collection,
  author: Author | undefined,
  take: (action: WriteAction & { readonly by: string | null }) => Promise<WriteOutcome>,
): Collection {
  const writing = writingBySteps(async (action) => {
    const outcome = await take({ ...action, by: author?.by ?? null })
    if ('results' in outcome && outcome.noted) author?.noted(outcome.noted)
    return outcome
  })
  return { ...stored, ...writing }
}

/** Collections each of whose writes is one step. */

import type { Collection, StepResult, WriteAction, WriteOutcome } from '../../ports/store/store.ts'
import type { Author } from './author.ts'

/** The writes of a collection. */
export type Writing = Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'>

/** The writes of a collection, each as the one step that `take` takes; it resolves to undefined if that fails. */
export function writingBySteps(
  take: (action: WriteAction) => Promise<StepResult | undefined>,
): Writing {
  return {
    insert: async (record) => (await take({ insert: record }))?.records[0],
    update: async (update, change, options) =>
      (await take({ update, change, ...(options && { options }) }))?.records[0] ?? null,
    updateMany: async (updateMany, change) => (await take({ updateMany, change }))?.count ?? 0,
    delete: async (filter, options) =>
      (await take({ delete: filter, ...(options && { options }) }))?.records[0] ?? null,
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
    if ('failed' in outcome) return undefined
    if (outcome.noted) author?.noted(outcome.noted)
    return outcome.results[0]
  })
  return { ...stored, ...writing }
}

/**
 * ID tokens that have been used to sign in: each is accepted once, on any instance of the app.
 *
 * The store enforces it: the digest of a token is the id of a record, and no id can be inserted twice.
 */

import { insertOnce, ownId, ownSchema, sweep } from '../../model/own-records.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Collection, CollectionSchema } from '../../ports/store/store.ts'

export interface SingleUse {
  /** The signed part of it: the string of a signature can be changed without making it invalid. */
  readonly signed: string
  /** When the provider's token expires, in epoch milliseconds. */
  readonly expiresAt: number
}

export interface UsedTokens {
  /**
   * Uses a token up; undefined if it was used before. Otherwise resolves to a function that takes the use back, for a
   * sign-in that fails.
   */
  use(token: SingleUse): Promise<(() => Promise<void>) | undefined>
  /** Whether a token was used up. */
  isUsed(signed: string): Promise<boolean>
  /** Removes some expired tokens: more than are used up meanwhile. */
  sweep(): Promise<void>
}

export const usedTokenSchema: CollectionSchema = ownSchema(
  'fieldgate_used_tokens',
  { expiresAt: 'date' },
  [['expiresAt']],
)

/** Clocks of instances may differ, and a token is accepted for some seconds longer. */
const MARGIN_MS = 60_000
const MAX_SWEPT = 3

/** The tokens used in `collection` to sign in to the instance named `auth`; `now` returns epoch milliseconds. */
export function usedTokens(collection: Collection, auth: string, now: () => number): UsedTokens {
  const idOf = (signed: string) => ownId(JSON.stringify([auth, signed]))
  return {
    async use({ signed, expiresAt }) {
      const _id = idOf(signed)
      const record = { _id, expiresAt: new Date(expiresAt + MARGIN_MS) }
      if (!(await insertOnce(collection, record))) return undefined
      return async () => void (await collection.delete(withId(_id)))
    },
    isUsed: async (signed) => (await firstIn(collection, withId(idOf(signed)))) !== undefined,
    sweep: () => sweep(collection, now(), MAX_SWEPT),
  }
}

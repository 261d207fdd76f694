/**
 * ID tokens that have been used to sign in: each is accepted once, on any instance of the app.
 *
 * The store enforces it: the digest of a token is the id of a record, and no id can be inserted twice.
 *
 * @module
 */

import { hexDigestOf } from '#hmac'
import { withId } from '../../ports/filter.ts'
import { type Collection, type CollectionSchema, DuplicateKey } from '../../ports/store.ts'

/** A token that is about to be used. */
export interface SingleUse {
  /** The signed part of it: the string of a signature can be changed without making it invalid. */
  readonly signed: string
  /** When the provider's token expires, in epoch milliseconds. */
  readonly expiresAt: number
}

/** The tokens that were used. */
export interface UsedTokens {
  /**
   * Uses a token up; undefined if it was used before. Otherwise resolves to a function that takes the use back, for a
   * sign-in that fails.
   */
  use(token: SingleUse): Promise<(() => Promise<void>) | undefined>
  /** Removes some expired tokens: more than are used up meanwhile. */
  sweep(): Promise<void>
}

/** The collection of the digests. */
export const usedTokenSchema: CollectionSchema = {
  name: 'fieldgate_used_tokens',
  idType: 'objectId',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'objectId' }],
      ['expiresAt', { kind: 'date' }],
    ]),
  },
  unique: [],
  indexes: [[{ field: 'expiresAt', descending: false }]],
  searchable: [],
}

/** Clocks of instances may differ, and a token is accepted for some seconds longer. */
const MARGIN_MS = 60_000
const MAX_SWEPT = 3

/** The tokens used in `collection` to sign in to the instance named `auth`; `now` returns epoch milliseconds. */
export function usedTokens(collection: Collection, auth: string, now: () => number): UsedTokens {
  return {
    async use({ signed, expiresAt }) {
      const _id = hexDigestOf(JSON.stringify([auth, signed])).slice(0, 24)
      try {
        await collection.insert({ _id, expiresAt: new Date(expiresAt + MARGIN_MS) })
      } catch (error) {
        if (error instanceof DuplicateKey) return undefined
        throw error
      }
      return async () => void (await collection.delete(withId(_id)))
    },
    async sweep() {
      const expired = { op: 'lt', field: 'expiresAt', value: new Date(now()) } as const
      for (let swept = 0; swept < MAX_SWEPT; swept += 1) {
        if ((await collection.delete(expired)) === null) return
      }
    },
  }
}

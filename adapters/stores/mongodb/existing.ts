/**
 * What the database has already: a collection's indexes and its collation.
 *
 * @module
 */

import type { Collection, Document, IndexDescriptionInfo } from 'mongodb'
import { hasCode } from './errors.ts'

const NO_COLLECTION = 26

/** A collection as it is. */
export interface Existing {
  /** Each has a `collation` only if that is not the collection's. */
  readonly indexes: readonly IndexDescriptionInfo[]
  /** How the collection compares strings, if it has a collation of its own. */
  readonly collation: Document | undefined
}

/** Looks at a collection; it may not exist yet. */
export async function existingOf(native: Collection): Promise<Existing> {
  const indexes = await indexesOf(native)
  // MongoDB gives this index the collection's collation and lets nobody change it.
  const collation = indexes.find(({ name }) => name === '_id_')?.collation
  if (!collation) return { indexes, collation }
  return { indexes: indexes.map((index) => relativeTo(collation, index)), collation }
}

/** `index` with the collation in which it differs from the collection's. */
function relativeTo(own: Document, index: IndexDescriptionInfo): IndexDescriptionInfo {
  const { collation, ...rest } = index
  if (JSON.stringify(collation) === JSON.stringify(own)) return rest
  return collation ? index : { ...rest, collation: { locale: 'simple' } }
}

async function indexesOf(native: Collection): Promise<IndexDescriptionInfo[]> {
  try {
    return await native.indexes()
  } catch (error) {
    if (hasCode(error, NO_COLLECTION)) return []
    throw error
  }
}

/** The locale and the strength of a collation, for people. */
export function collationText({ locale, strength }: Document): string {
  return strength === undefined ? String(locale) : `${locale}, strength ${strength}`
}

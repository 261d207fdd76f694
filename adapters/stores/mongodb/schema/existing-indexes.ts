/**
 * What the database has already: a collection's indexes and its collation.
 *
 * @module
 */

import {
  BSON,
  type Collection,
  type Document,
  type IndexDescription,
  type IndexDirection,
} from 'mongodb'
import { hasCode } from '../connection/errors.ts'
import { membersIn } from './bson.ts'

const NO_COLLECTION = 26

/** An index that exists. A plain object would have fields with names like `2024` before the others. */
export interface ExistingIndex extends Omit<IndexDescription, 'key'> {
  /** Its fields in order, with their directions. */
  readonly key: ReadonlyMap<string, IndexDirection>
  readonly v?: number
}

/** A collection as it is. */
export interface Existing {
  /** Each has a `collation` only if that is not the collection's. */
  readonly indexes: readonly ExistingIndex[]
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
function relativeTo(own: Document, index: ExistingIndex): ExistingIndex {
  const { collation, ...rest } = index
  if (JSON.stringify(collation) === JSON.stringify(own)) return rest
  return collation ? index : { ...rest, collation: { locale: 'simple' } }
}

async function indexesOf(native: Collection): Promise<ExistingIndex[]> {
  try {
    const listed: unknown[] = await native.listIndexes({ raw: true }).toArray()
    return listed.map((bytes) => indexOf(bytes as Uint8Array))
  } catch (error) {
    if (hasCode(error, NO_COLLECTION)) return []
    throw error
  }
}

function indexOf(bytes: Uint8Array): ExistingIndex {
  const index = BSON.deserialize(bytes) as Omit<ExistingIndex, 'key'> & { key: Directions }
  const at = membersIn(bytes).find(({ name }) => name === 'key')?.at
  const ordered = at === undefined ? [] : membersIn(bytes, at).map(({ name }) => name)
  const names = Object.keys(index.key)
  // A direction of a rare type ends the list early.
  const fields = ordered.length === names.length ? ordered : names
  return { ...index, key: new Map(fields.map((field) => [field, index.key[field] ?? 1])) }
}

type Directions = Readonly<Record<string, IndexDirection>>

/** The locale and the strength of a collation, for people. */
export function collationText({ locale, strength }: Document): string {
  return strength === undefined ? String(locale) : `${locale}, strength ${strength}`
}

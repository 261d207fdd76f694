/**
 * Inserts that share a round trip.
 *
 * @module
 */

import type { Collection, Document, MongoBulkWriteError } from 'mongodb'
import { gather } from '../../gather.ts'

/**
 * Inserts documents into `native`; if one is refused, only that one fails, with the error that it would have had alone.
 */
export function inserter(native: Collection): (document: Document) => Promise<void> {
  async function insertAlone(document: Document): Promise<void> {
    await native.insertOne(document)
  }

  return gather((documents: Document[]) => {
    if (documents.length === 1) return documents.map(insertAlone)
    const refused = native.insertMany(documents, { ordered: false }).then(
      () => new Set<number>(),
      (error: MongoBulkWriteError) => refusedBy(error, documents),
    )
    return documents.map(async (document, index) => {
      if ((await refused).has(index)) await insertAlone(document)
    })
  })
}

/**
 * The documents to try alone, so that each has its own error. The others were acknowledged: only a list of failed
 * documents without a write concern error proves that. An error that affects all of them is thrown.
 */
function refusedBy(error: MongoBulkWriteError, documents: readonly Document[]): Set<number> {
  const culprits = [error.writeErrors ?? []].flat()
  if (culprits.length > 0 && !error.result.getWriteConcernError()) {
    return new Set(culprits.map(({ index }) => index))
  }
  // A document that cannot be written as BSON, or is too large; all are serialised before any is sent.
  if (/^BSON|^MongoInvalidArgument/.test(error.name)) return new Set(documents.keys())
  // The driver wraps even a lost connection; then neither the name nor the cause tells.
  throw error.errorResponse instanceof Error ? error.errorResponse : error
}

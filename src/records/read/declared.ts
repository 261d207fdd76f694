/** Records from the store, as their model declares them. */

import type { Model } from '../../model/model.ts'
import { declaredParts } from '../../model/versions/present.ts'
import { mapInTurns } from '../../ports/promises/turns.ts'
import type { Fields, Read } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'

/** How records are read. */
interface How {
  readonly lean: boolean
  /** Whether they only become JSON: then dates may be texts. */
  readonly isSent: boolean
}

/**
 * The records of `read`. Those that are only sent are parsed from the store's JSON: to make Dates of texts, and texts of
 * Dates again, takes longer than all else that is done to a record.
 */
export async function declaredRecords(
  model: Model,
  stored: Collection,
  read: Read,
  { lean, isSent }: How,
): Promise<readonly Fields[]> {
  if (!isSent || model.convert || !stored.findJson) {
    return declaredParts(model, await stored.find(read), { select: read.select, lean })
  }
  const texts = await stored.findJson({ ...read, fillDefaults: !lean })
  return mapInTurns(
    texts,
    (text) => text.length,
    (text) => JSON.parse(text) as Fields,
  )
}

/** What a copy would hold otherwise than its source, found before anything is written. */

import type { Copyable } from '../../ports/store/copying.ts'
import type { CollectionSchema } from '../../ports/store/store.ts'
import { type Progress, type Some, Tally, told } from '../tally.ts'

/** Stored values of one type in one field that the copy would hold as something else. */
export interface Loss extends Some {
  readonly collection: string
  readonly field: string
  /** The type in the source's database, for example `Decimal128`. */
  readonly type: string
  /** What the target would hold instead, for example `a rounded number`. */
  readonly becomes: string
}

/** Thrown before anything is written, if the target can't hold values as the source does. */
export class ForeignValues extends Error {
  override readonly name = 'ForeignValues'
  readonly lost: readonly Loss[]
  constructor(lost: readonly Loss[]) {
    super('the source holds values that the target would hold as something else')
    this.lost = lost
  }
}

export async function losses<R>(
  sources: readonly { readonly schema: CollectionSchema; readonly source: Copyable<R> }[],
  progress: Progress,
): Promise<Loss[]> {
  const tally = new Tally<Omit<Loss, keyof Some>>()
  const looks = sources.flatMap(({ schema, source }) => {
    const found = [source.foreign?.(), source.held?.()].filter((batches) => batches !== undefined)
    return found.map((batches) => ({ collection: schema.name, source, batches }))
  })
  for (const { collection, source, batches } of looks) {
    const total = await source.count()
    for await (const { values } of told(batches, progress, `checking ${collection}`, total)) {
      for (const { id, field, type, becomes } of values) {
        tally.add({ collection, field, type, becomes }, id)
      }
    }
  }
  return tally.all()
}

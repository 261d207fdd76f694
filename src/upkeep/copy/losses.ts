/** What a copy would hold as something else, found before anything is written. */

import type { Copyable } from '../../ports/copying.ts'
import type { CollectionSchema } from '../../ports/store.ts'
import { type Progress, type Some, Tally } from '../tally.ts'

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

/** Reads `sources` and tells what a copy of them would change. */
export async function losses<R>(
  sources: readonly { readonly schema: CollectionSchema; readonly source: Copyable<R> }[],
  progress: Progress,
): Promise<Loss[]> {
  const tally = new Tally<Omit<Loss, keyof Some>>()
  for (const { schema, source } of sources) {
    if (!source.foreign) continue
    const pass = `checking ${schema.name}`
    progress.start?.(pass, await source.count())
    let done = 0
    for await (const { read, values } of source.foreign()) {
      for (const { id, field, type, becomes } of values) {
        tally.add({ collection: schema.name, field, type, becomes }, id)
      }
      done += read
      progress.advance?.(pass, done)
    }
  }
  return tally.all()
}

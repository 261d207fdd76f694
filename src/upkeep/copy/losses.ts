/**
 * What a copy would hold as something else, found before anything is written.
 *
 * @module
 */

import type { Copyable, ForeignValue } from '../../ports/copying.ts'
import type { CollectionSchema } from '../../ports/store.ts'

/** Stored values of one type in one field that the copy would hold as something else. */
export interface Loss {
  readonly collection: string
  readonly field: string
  /** The type in the source's database, for example `Decimal128`. */
  readonly type: string
  /** What the target would hold instead, for example `a rounded number`. */
  readonly becomes: string
  /** How many values there are. */
  readonly count: number
  /** The ids of the first records that have one, three at most. */
  readonly examples: readonly string[]
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

const EXAMPLES = 3

/** Reads `sources` and tells what a copy of them would change. */
export async function losses<R>(
  sources: readonly { readonly schema: CollectionSchema; readonly source: Copyable<R> }[],
  progress: {
    start?(pass: string, total: number): void
    advance?(pass: string, done: number): void
  },
): Promise<Loss[]> {
  const found: Loss[] = []
  for (const { schema, source } of sources) {
    if (!source.foreign) continue
    const pass = `checking ${schema.name}`
    progress.start?.(pass, await source.count())
    const tally = new Map<string, Loss & { count: number; examples: string[] }>()
    let done = 0
    for await (const { read, values } of source.foreign()) {
      for (const value of values) add(tally, schema.name, value)
      done += read
      progress.advance?.(pass, done)
    }
    found.push(...tally.values())
  }
  return found
}

function add(
  tally: Map<string, Loss & { count: number; examples: string[] }>,
  collection: string,
  { id, field, type, becomes }: ForeignValue,
): void {
  const key = JSON.stringify([field, type, becomes])
  const loss = tally.get(key) ?? { collection, field, type, becomes, count: 0, examples: [] }
  loss.count += 1
  if (loss.examples.length < EXAMPLES && loss.examples.at(-1) !== id) loss.examples.push(id)
  tally.set(key, loss)
}

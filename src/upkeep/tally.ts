/** Counts of records, with the ids of some, and how far a count is. */

/** Hears how far a pass over records is. `pass` names what it goes over. */
export interface Progress {
  /** It is begun; there are about `total` records. */
  start?(pass: string, total: number): void
  /** So many of them are done. */
  advance?(pass: string, done: number): void
}

/** `batches`, of about `total` records in all: `progress` hears how far the pass is that reads them. */
export async function* told<B extends { readonly length: number } | { readonly read: number }>(
  batches: AsyncIterable<B>,
  progress: Progress,
  pass: string,
  total: number,
): AsyncGenerator<B> {
  progress.start?.(pass, total)
  let done = 0
  for await (const batch of batches) {
    yield batch
    done += 'read' in batch ? batch.read : batch.length
    progress.advance?.(pass, done)
  }
}

/** How many records there are, and the ids of the first, three at most. */
export interface Some {
  readonly count: number
  readonly examples: readonly string[]
}

/** A number as people read it. */
export function counted(count: number): string {
  return count.toLocaleString('en')
}

export const countedRecords = (count: number): string =>
  `${counted(count)} record${count === 1 ? '' : 's'}`

export const EXAMPLES = 3

export class Ids implements Some {
  count = 0
  readonly examples: string[] = []

  add(id: string): void {
    this.count += 1
    if (this.examples.length < EXAMPLES && this.examples.at(-1) !== id) this.examples.push(id)
  }
}

/** Counts what records have in common. */
export class Tally<What extends object> {
  readonly #found = new Map<string, { readonly what: What; readonly ids: Ids }>()

  /** Counts `what` of the record `id`; its members come in one order. */
  add(what: What, id: string): void {
    const key = JSON.stringify(what)
    const one = this.#found.get(key) ?? { what, ids: new Ids() }
    this.#found.set(key, one)
    one.ids.add(id)
  }

  /** What was found, in the order in which it was found first. */
  all(): (What & Some)[] {
    return [...this.#found.values()].map(({ what, ids }) => ({ ...what, ...ids }))
  }
}

/** The entries of a log as stores keep them: with the records as JSON. */

import type { LoggedChange, LoggedModel } from '../../../src/ports/store/changes.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { readerOf } from '../json-values.ts'

export interface StoredEntry {
  readonly model: unknown
  readonly actor: unknown
  /** Epoch milliseconds. */
  readonly at: unknown
  readonly before: unknown
  readonly after: unknown
}

export class LoggedModels {
  readonly #models = new Map<string, { logged: LoggedModel; parse(json: string): Fields }>()

  prepared(schemas: readonly CollectionSchema[]): void {
    for (const { logged, shape } of schemas) {
      if (logged) this.#models.set(logged.model, { logged, parse: readerOf(shape) })
    }
  }

  get names(): readonly string[] {
    return [...this.#models.keys()]
  }

  get limited(): readonly LoggedModel[] {
    const all = [...this.#models.values()].map(({ logged }) => logged)
    return all.filter(({ keepMs }) => keepMs !== Number.POSITIVE_INFINITY)
  }

  /** Calls `drop` for each of these, so many times. */
  async dropOld(times: number, drop: (model: LoggedModel) => Promise<unknown>): Promise<void> {
    for (let left = times; left > 0; left -= 1) for (const one of this.limited) await drop(one)
  }

  /** The change of an entry at the position `id`; undefined if its model is not known. */
  change(id: string, { model, actor, at, before, after }: StoredEntry): LoggedChange | undefined {
    const known = this.#models.get(String(model))
    if (!known) return undefined
    const record = (json: unknown) => (typeof json === 'string' ? known.parse(json) : null)
    const [was, is] = [record(before), record(after)]
    const kind = was === null ? 'created' : is === null ? 'removed' : 'updated'
    return {
      ...{ id, at: new Date(Number(at)), model: String(model), kind },
      ...{ before: was, after: is, by: typeof actor === 'string' ? actor : null },
    }
  }
}

/** The row of the log is gone, so nothing has a place in it: a write that would not be noted is refused. */
export function noLog(): TypeError {
  return new TypeError('fieldgate_change_log has no row. Start the app again')
}

/** The most entries that are looked at when old ones are dropped. */
export const MAX_DROPPED = 1000

/** How often old entries are dropped with a write that adds so many: they go faster than others come. */
export function timesToDrop(added: number): number {
  return Math.random() < added / 20 ? 1 + Math.floor((2 * added) / MAX_DROPPED) : 0
}

/** Where to read on after entries at `found`: at the end of the log, unless more may come before it. Never before `after`. */
export function nextPosition(
  found: readonly string[],
  end: string,
  limit: number,
  after = '',
): string {
  const last = found.at(-1) ?? ''
  const to = found.length === limit || last > end ? last : end
  return to < after ? after : to
}

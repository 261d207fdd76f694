/** The records of one model as a batch or an atomic step sees them: those that are stored, with what it has done so far. */

import { declaredPart } from '../../model/versions/present.ts'
import type { Settling } from '../../model/versions/renamed-collection.ts'
import { aggregateRecords } from '../../ports/evaluation/aggregate-records.ts'
import { compareAt, matches, position } from '../../ports/evaluation/evaluate.ts'
import { all, type Filter, idsIn } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Read } from '../../ports/store/records.ts'
import { comparedOf } from '../engine/known-updates.ts'
import type { RecordEngine } from '../engine/record-engine.ts'
import type { Writing } from '../engine/stepwise.ts'

/** Counts what is read; throws once it is too much. */
export type Spend = (records: readonly Fields[]) => void

/** What a record was before a write; null if there was none. */
interface Earlier {
  readonly id: string
  readonly was: Fields | null
  readonly hadWritten: boolean
}

export class OverlaidRecords {
  readonly #engine: Pick<RecordEngine, 'model' | 'stored'>
  readonly #spend: Spend
  /** The records that have been written, by id; null for one that it has removed. */
  readonly #written = new Map<string, Fields | null>()
  /** What the records noted since `keep` were before. */
  #before: Earlier[] = []
  /** The stored records that have been written, as they were found. */
  readonly #bases = new Map<string, Fields>()
  /** What records were before the operations that have written them, in the order of the operations. */
  readonly #history: (Earlier & { readonly operation: number })[] = []

  constructor(engine: Pick<RecordEngine, 'model' | 'stored'>, spend: Spend) {
    this.#engine = engine
    this.#spend = spend
  }

  /** Notes that a record has been written, or removed: what it was, and what it is. */
  note(was: Fields | null, is: Fields | null): void {
    const id = String((is ?? was)?._id)
    const hadWritten = this.#written.has(id)
    this.#before.push({ id, was, hadWritten })
    if (was && !hadWritten) this.#bases.set(id, was)
    this.#written.set(id, is)
  }

  /** What has been noted stays: `operation` has written it. */
  keep(operation: number): void {
    for (const earlier of this.#before) this.#history.push({ ...earlier, operation })
    this.#before = []
  }

  /** Forgets what has been noted since `keep`. */
  undo(): void {
    for (const { id, was, hadWritten } of this.#before.reverse()) {
      if (hadWritten) this.#written.set(id, was)
      else this.#written.delete(id)
    }
    this.#before = []
  }

  /** Once everything is stored: the records are as `operation` has left them, without what later ones have done. */
  rewind(operation: number): void {
    this.#written.clear()
    for (const earlier of this.#history.toReversed()) {
      if (earlier.operation > operation) this.#written.set(earlier.id, earlier.was)
    }
  }

  /** The records that match after what has been done. Values inside are shared: only copies may be changed. */
  async find(read: Read): Promise<Fields[]> {
    const found = await this.#found(read)
    this.#spend(found)
    return found
  }

  async #found(read: Read): Promise<Fields[]> {
    const { filter, sort, after, skip = 0, limit, select, ...rest } = read
    const concerned = this.#concernedBy(filter)
    if (concerned.ids.length === 0) return this.#engine.stored.find(read)
    const as = comparedOf(this.#engine)
    const own = this.#own(concerned.ids, filter).filter(
      (record) => !after || compareAt(sort, position(sort, record, as), after, as) > 0,
    )
    const most = Math.min(skip + limit, Number.MAX_SAFE_INTEGER)
    const others = concerned.isAll
      ? []
      : await this.#engine.stored.find({
          ...rest,
          ...(after && { after }),
          filter: except(filter, concerned.ids),
          sort,
          limit: most,
        })
    return [...own, ...others]
      .sort((a, b) => compareAt(sort, position(sort, a, as), position(sort, b, as), as))
      .slice(skip, most)
      .map((record) => project(record, select))
  }

  /** These records as a collection for the code of users, who may change what they read. */
  copies(): Settling {
    return {
      ...this.collection(this.#engine.stored),
      find: async (read) => (await this.find(read)).map((record) => structuredClone(record)),
    }
  }

  /** These records as a collection, which `writing` writes to. */
  collection(writing: Writing): Settling {
    const stored = this.#engine.stored
    return {
      find: (read) => this.find(read),
      ...(stored.findJson && { findJson: (read: Read) => this.#findJson(read) }),
      count: async (filter, hints) => {
        const { ids } = this.#concernedBy(filter)
        if (ids.length === 0) return stored.count(filter, hints)
        return (await stored.count(except(filter, ids), hints)) + this.#own(ids, filter).length
      },
      aggregate: (read) =>
        stored.aggregate && this.#concernedBy(read.filter).ids.length === 0
          ? stored.aggregate(read)
          : aggregateRecords((part) => this.find(part), read, comparedOf(this.#engine)),
      estimate: () => stored.estimate(),
      ...(stored.newId && { newId: stored.newId.bind(stored) }),
      insert: (record) => writing.insert(record),
      update: (filter, change, options) => writing.update(filter, change, options),
      updateMany: (filter, change) => writing.updateMany(filter, change),
      delete: (filter, options) => writing.delete(filter, options),
    }
  }

  hasWritten(id: string): boolean {
    return this.#written.has(id)
  }

  /** What was stored, as far as the records that match `filter` depend on it: what was written since, and the rest. */
  basesOf(filter: Filter): { readonly bases: readonly Fields[]; readonly rest: Filter } {
    const { ids } = this.#concernedBy(filter)
    const bases = ids.map((id) => this.#bases.get(id)).filter((one) => one !== undefined)
    return { bases, rest: ids.length > 0 ? except(filter, ids) : filter }
  }

  async #findJson(read: Read): Promise<string[]> {
    const isStored = this.#concernedBy(read.filter).ids.length === 0
    if (isStored && this.#engine.stored.findJson) return this.#engine.stored.findJson(read)
    const shown = { select: read.select, lean: !read.fillDefaults }
    const found = await this.find(read)
    return found.map((record) => JSON.stringify(declaredPart(this.#engine.model, record, shown)))
  }

  /** The written records that `filter` may match, and whether it can match no others. */
  #concernedBy(filter: Filter): { readonly ids: readonly string[]; readonly isAll: boolean } {
    const named = idsIn(filter)
    if (!named) return { ids: [...this.#written.keys()], isAll: false }
    const ids = named.filter((id) => this.#written.has(id))
    return { ids, isAll: ids.length === named.length }
  }

  #own(ids: readonly string[], filter: Filter): Fields[] {
    return ids.flatMap((id) => {
      const record = this.#written.get(id)
      return record && matches(filter, record, comparedOf(this.#engine)) ? [record] : []
    })
  }
}

function except(filter: Filter, ids: readonly string[]): Filter {
  return all([filter, { op: 'nin', field: '_id', values: ids }])
}

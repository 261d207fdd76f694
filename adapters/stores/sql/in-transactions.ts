/** The writes of a store whose database has transactions that can read: records are changed here and stored again. */

import { changed, isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { Filter } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type {
  Collection,
  CollectionSchema,
  StepResult,
  Store,
  WriteAction,
  WriteOptions,
} from '../../../src/ports/store/store.ts'
import { type StepTaker, take } from '../planner/steps.ts'

/** The records of one collection, inside of a transaction. */
export interface Records {
  /** Those that match, as the transaction has left them. Nobody else may change them before it ends. */
  find(filter: Filter): Promise<readonly Fields[]>
  /** Rejects with `DuplicateKey`, as `replace` does, if a unique value is taken. */
  insert(record: Fields): Promise<void>
  /** Stores records again that `find` has found, with other content. */
  replace(records: readonly Fields[]): Promise<void>
  remove(records: readonly Fields[]): Promise<void>
  /** Holds up other transactions with the same guard until this one ends. Without it, one transaction follows another. */
  guard?(name: string): Promise<void>
}

/** Runs `work` in a transaction, which is taken back if `work` rejects, and may be run again. It opens the collections that it needs. */
export type Transaction = <Result>(
  work: (open: (schema: CollectionSchema) => Records) => Promise<Result>,
) => Promise<Result>

/** The writes of a collection. */
export type CollectionWrites = Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'>

/** A step found no record, or one that must not be there. */
class NotTaken extends Error {}

/** The members of a store and of its collections that write. */
export function writesIn(transaction: Transaction): {
  readonly write: NonNullable<Store['write']>
  readonly writesOf: (schema: CollectionSchema) => CollectionWrites
} {
  const write: NonNullable<Store['write']> = async (steps) => {
    // Of the last run: a store may run a transaction again that met another one.
    let results: StepResult[] = []
    try {
      return await transaction(async (open) => {
        results = []
        for (const step of steps) results.push(await take(step, takerOver(open(step.in))))
        return { results }
      })
    } catch (error) {
      if (error instanceof NotTaken) return { failed: results.length }
      throw error
    }
  }
  const writesOf = (schema: CollectionSchema): CollectionWrites => {
    const alone = async (step: WriteAction): Promise<StepResult> => {
      const outcome = await write([{ in: schema, ...step }])
      return 'results' in outcome ? (outcome.results[0] ?? NOTHING) : NOTHING
    }
    return {
      insert: async (record) => void (await alone({ insert: record })),
      update: async (filter, change, options = {}) =>
        (await alone({ update: filter, change, options })).records[0] ?? null,
      updateMany: async (filter, change) => (await alone({ updateMany: filter, change })).count,
      delete: async (filter, options = {}) =>
        (await alone({ delete: filter, options })).records[0] ?? null,
    }
  }
  return { write, writesOf }
}

const NOTHING: StepResult = { count: 0, records: [] }

function takerOver(records: Records): StepTaker<Promise<StepResult>> {
  const holding = async (filter: Filter, { expect = {} }: WriteOptions = {}) => {
    const isHeld = (record: Fields) =>
      Object.entries(expect).every(([field, value]) => isSameContent(record[field], value))
    return (await records.find(filter)).filter(isHeld)
  }
  const one = async (filter: Filter, options?: WriteOptions): Promise<Fields> => {
    const [record] = await holding(filter, options)
    if (!record) throw new NotTaken()
    return record
  }
  const removed = async (found: readonly Fields[]): Promise<StepResult> => {
    await records.remove(found)
    return { count: found.length, records: found }
  }
  return {
    async insert(record) {
      await records.insert(record)
      return { count: 1, records: [] }
    },
    async update(filter, change, options) {
      const record = changed(await one(filter, options), change)
      await records.replace([record])
      return { count: 1, records: [record] }
    },
    async updateMany(filter, change) {
      const found = (await records.find(filter)).map((record) => changed(record, change))
      await records.replace(found)
      return { count: found.length, records: [] }
    },
    delete: async (filter, options) => removed([await one(filter, options)]),
    deleteMany: async (filter) => removed(await records.find(filter)),
    async require(filter, exists, options) {
      if ((await holding(filter, options)).length > 0 !== exists) throw new NotTaken()
      return NOTHING
    },
    async guard(name) {
      await records.guard?.(name)
      return NOTHING
    },
  }
}

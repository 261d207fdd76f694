/**
 * A store in memory whose every answer is what `src/ports/evaluation` says: what batches, atomic steps and live lists go by.
 *
 * @module
 */

import {
  changed,
  compareAt,
  isSameContent,
  matches,
  position,
} from '../../../src/ports/evaluation/evaluate.ts'
import {
  AnchorGone,
  type Change,
  type Collection,
  type CollectionSchema,
  DuplicateKey,
  type Fields,
  type Filter,
  project,
  type Read,
  type StepResult,
  type Store,
  type WriteOptions,
  type WriteStep,
} from '../../../src/ports/index.ts'

interface Table {
  records: Fields[]
  unique: readonly (readonly string[])[]
}

/** An empty one. */
export function interpreterStore(): Store {
  const tables = new Map<string, Table>()
  const tableOf = (name: string): Table => {
    const table = tables.get(name) ?? { records: [], unique: [['_id']] }
    tables.set(name, table)
    return table
  }
  const open = (schema: CollectionSchema) => new Interpreted(tableOf(schema.name), schema)
  return {
    name: 'interpreter',
    rawRegex: false,
    guards: true,
    collection: open,
    async prepare(schemas) {
      for (const { name, unique } of schemas) tableOf(name).unique = [['_id'], ...unique]
    },
    async write(steps) {
      const before = [...tables.values()].map((table) => [table, table.records] as const)
      const restore = () => {
        for (const [table, records] of before) table.records = records
      }
      const results: StepResult[] = []
      try {
        for (const step of steps) {
          const result = open(step.in).take(step)
          if (!result) {
            restore()
            return { failed: results.length }
          }
          results.push(result)
        }
        return { results }
      } catch (error) {
        restore()
        throw error
      }
    },
    async close() {},
  }
}

class Interpreted implements Collection {
  readonly #table: Table
  readonly #as: Pick<CollectionSchema, 'shape'>

  constructor(table: Table, { shape }: CollectionSchema) {
    this.#table = table
    this.#as = { shape }
  }

  async find({ filter, sort, after, afterRecord, skip = 0, limit, select }: Read) {
    const [anchor] = afterRecord ? this.#matching(afterRecord) : []
    if (afterRecord && !anchor) throw new AnchorGone()
    const from = anchor ? position(sort, anchor, this.#as) : after
    const placed = this.#matching(filter).map((record) => {
      return { record, at: position(sort, record, this.#as) }
    })
    placed.sort((a, b) => compareAt(sort, a.at, b.at, this.#as))
    const rest = from ? placed.filter(({ at }) => compareAt(sort, at, from, this.#as) > 0) : placed
    const found = rest.slice(skip, skip + limit)
    return found.map(({ record }) => project(structuredClone(record), select))
  }

  async count(filter: Filter) {
    return this.#matching(filter).length
  }

  async estimate() {
    return this.#table.records.length
  }

  async insert(record: Fields) {
    this.#put(record)
  }

  async update(filter: Filter, change: Change, options?: WriteOptions) {
    return this.#change(filter, change, options)
  }

  async updateMany(filter: Filter, change: Change) {
    return this.#changeAll(filter, change)
  }

  async delete(filter: Filter, options?: WriteOptions) {
    return this.#remove(filter, options)
  }

  /** What a step did; undefined if it failed. */
  take(step: WriteStep): StepResult | undefined {
    const one = (record: Fields | null) => (record ? { count: 1, records: [record] } : undefined)
    if ('insert' in step) {
      this.#put(step.insert)
      return { count: 1, records: [] }
    }
    if ('update' in step) return one(this.#change(step.update, step.change, step.options))
    if ('updateMany' in step) {
      return { count: this.#changeAll(step.updateMany, step.change), records: [] }
    }
    if ('delete' in step) return one(this.#remove(step.delete, step.options))
    if ('deleteMany' in step) {
      const records = this.#matching(step.deleteMany)
      this.#table.records = this.#table.records.filter((one) => !records.includes(one))
      return { count: records.length, records }
    }
    if ('guard' in step) return { count: 0, records: [] }
    const isThere = this.#target(step.require, step.options) !== undefined
    return isThere === step.exists ? { count: 0, records: [] } : undefined
  }

  #matching(filter: Filter): Fields[] {
    return this.#table.records.filter((record) => matches(filter, record, this.#as))
  }

  #target(filter: Filter, { expect = {} }: WriteOptions = {}): Fields | undefined {
    return this.#matching(filter).find((record) =>
      Object.entries(expect).every(([field, value]) => isSameContent(record[field], value)),
    )
  }

  #put(record: Fields): void {
    this.#refuseTaken(record)
    this.#table.records = [...this.#table.records, structuredClone(record)]
  }

  #change(filter: Filter, change: Change, options?: WriteOptions): Fields | null {
    const before = this.#target(filter, options)
    return before ? structuredClone(this.#replace(before, change)) : null
  }

  #changeAll(filter: Filter, change: Change): number {
    const found = this.#matching(filter)
    for (const record of found) this.#replace(record, change)
    return found.length
  }

  #replace(before: Fields, change: Change): Fields {
    const after = structuredClone(changed(before, structuredClone(change)))
    this.#refuseTaken(after, before)
    this.#table.records = this.#table.records.map((one) => (one === before ? after : one))
    return after
  }

  #remove(filter: Filter, options?: WriteOptions): Fields | null {
    const found = this.#target(filter, options)
    this.#table.records = this.#table.records.filter((one) => one !== found)
    return found ?? null
  }

  #refuseTaken(record: Fields, before?: Fields): void {
    for (const fields of this.#table.unique) {
      const keys = fields.map((field) => ({ field, descending: false }))
      const own = position(keys, record, this.#as)
      const isTaken = (other: Fields) => {
        return other !== before && compareAt(keys, own, position(keys, other, this.#as)) === 0
      }
      if (!own.includes(null) && this.#table.records.some(isTaken)) throw new DuplicateKey(fields)
    }
  }
}

/** A naive store in memory: the port's sentences in their simplest form, to compare real stores with. */

import { changed, compareAt, matches, position } from '../../../src/ports/evaluation/evaluate.ts'
import type { Filter } from '../../../src/ports/store/filter.ts'
import type { Fields, Read } from '../../../src/ports/store/records.ts'
import type { Change, StepResult, WriteOutcome, WriteStep } from '../../../src/ports/store/store.ts'
import { AnchorGone } from '../../../src/ports/store/store-errors.ts'
import { people } from './people.ts'

/** The part of a read that decides its result. */
export type Question = Pick<Read, 'filter' | 'sort' | 'after' | 'afterRecord' | 'skip' | 'limit'>

/** Holds records; its results are copies. */
export class Oracle {
  #records: Fields[] = []
  readonly #unique: readonly (readonly string[])[]

  constructor(unique: readonly (readonly string[])[]) {
    this.#unique = [['_id'], ...unique]
  }

  /** A copy of every record, in the order of insertion. */
  all(): Fields[] {
    return structuredClone(this.#records)
  }

  find({ filter, sort, after: given, afterRecord, skip = 0, limit }: Question): Fields[] {
    const anchor =
      afterRecord && this.#records.find((record) => matches(afterRecord, record, people))
    if (afterRecord && !anchor) throw new AnchorGone()
    const after = anchor ? position(sort, anchor, people) : given
    const found = this.#records.filter((record) => matches(filter, record, people))
    found.sort((a, b) => compareAt(sort, position(sort, a, people), position(sort, b, people)))
    const rest = after
      ? found.filter((one) => compareAt(sort, position(sort, one, people), after) > 0)
      : found
    return structuredClone(rest.slice(skip, skip + limit))
  }

  count(filter: Filter): number {
    return this.#records.filter((record) => matches(filter, record, people)).length
  }

  insert(record: Fields): void {
    this.#refuseTaken(record, undefined)
    this.#records.push(structuredClone(record))
  }

  /** Changes the one record that matches, if it holds what is expected. */
  update(filter: Filter, change: Change, expect: Fields = {}): Fields | null {
    const at = this.#target(filter, expect)
    const before = this.#records[at]
    if (!before) return null
    const after = changed(before, change)
    this.#refuseTaken(after, before)
    this.#records[at] = after
    return structuredClone(after)
  }

  updateMany(filter: Filter, change: Change): number {
    const matching = this.#records.filter((record) => matches(filter, record, people))
    this.#records = this.#records.map((record) =>
      matching.includes(record) ? changed(record, change) : record,
    )
    return matching.length
  }

  delete(filter: Filter, expect: Fields = {}): Fields | null {
    const at = this.#target(filter, expect)
    return at === -1 ? null : (this.#records.splice(at, 1)[0] ?? null)
  }

  /** Takes all steps, or throws, or tells which one failed; then nothing has changed. */
  write(steps: readonly WriteStep[]): WriteOutcome {
    const before = this.#records
    this.#records = [...before]
    const results: StepResult[] = []
    try {
      for (const step of steps) {
        const result = this.#take(step)
        if (!result) break
        results.push(result)
      }
    } catch (error) {
      this.#records = before
      throw error
    }
    if (results.length === steps.length) return { results }
    this.#records = before
    return { failed: results.length }
  }

  /** What a step did; undefined if it failed. */
  #take(step: WriteStep): StepResult | undefined {
    const one = (record: Fields | null) => record && { count: 1, records: [record] }
    if ('insert' in step) {
      this.insert(step.insert)
      return { count: 1, records: [] }
    }
    if ('update' in step)
      return one(this.update(step.update, step.change, step.options?.expect)) ?? undefined
    if ('updateMany' in step) {
      return { count: this.updateMany(step.updateMany, step.change), records: [] }
    }
    if ('delete' in step) return one(this.delete(step.delete, step.options?.expect)) ?? undefined
    if ('deleteMany' in step) {
      const records = this.#records.filter((record) => matches(step.deleteMany, record, people))
      this.#records = this.#records.filter((record) => !records.includes(record))
      return { count: records.length, records: structuredClone(records) }
    }
    if ('guard' in step) return { count: 0, records: [] }
    const isThere = this.#target(step.require, step.options?.expect ?? {}) !== -1
    return isThere === step.exists ? { count: 0, records: [] } : undefined
  }

  #target(filter: Filter, expect: Fields): number {
    return this.#records.findIndex(
      (record) =>
        matches(filter, record, people) &&
        Object.entries(expect).every(
          ([field, value]) => JSON.stringify(record[field]) === JSON.stringify(value),
        ),
    )
  }

  #refuseTaken(record: Fields, before: Fields | undefined): void {
    const taken = this.#unique.filter((fields) => {
      const values = fields.map((field) => record[field] ?? null)
      if (values.includes(null)) return false
      return this.#records.some(
        (other) => other !== before && fields.every((field, at) => other[field] === values[at]),
      )
    })
    if (taken.length > 0) throw new Taken(taken)
  }
}

/** Unique field sets whose values are taken; a store names one of them. */
export class Taken extends Error {
  readonly sets: readonly (readonly string[])[]
  constructor(sets: readonly (readonly string[])[]) {
    super('taken')
    this.sets = sets
  }
}

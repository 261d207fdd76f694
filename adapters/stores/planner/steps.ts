/** The steps of a write. */

import { everything, type Filter, nothing } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Change, WriteOptions, WriteStep } from '../../../src/ports/store/store.ts'

export interface StepTaker<Result> {
  insert(record: Fields): Result
  update(filter: Filter, change: Change, options?: WriteOptions): Result
  updateMany(filter: Filter, change: Change): Result
  delete(filter: Filter, options?: WriteOptions): Result
  deleteMany(filter: Filter): Result
  require(filter: Filter, isThere: boolean, options?: WriteOptions): Result
  guard(name: string): Result
}

export function take<Result>(step: WriteStep, taker: StepTaker<Result>): Result {
  if ('insert' in step) return taker.insert(step.insert)
  if ('update' in step) return taker.update(step.update, step.change, step.options)
  if ('updateMany' in step) return taker.updateMany(step.updateMany, step.change)
  if ('delete' in step) return taker.delete(step.delete, step.options)
  if ('deleteMany' in step) return taker.deleteMany(step.deleteMany)
  if ('guard' in step) return taker.guard(step.guard)
  return taker.require(step.require, step.exists, step.options)
}

/** The records that a step is about; an insert is about none that is there, and a guard about none. */
export function filterOf(step: WriteStep): Filter {
  return take<Filter>(step, { ...ABOUT, insert: () => everything, guard: () => nothing })
}

const same = (filter: Filter) => filter
const ABOUT = { update: same, updateMany: same, delete: same, deleteMany: same, require: same }

/**
 * A write: its steps, and a change as a list of operations on paths.
 *
 * @module
 */

import { everything, type Filter, nothing, type Scalar } from '../../../src/ports/filter.ts'
import type { Change, Fields, WriteOptions, WriteStep } from '../../../src/ports/store.ts'

/** What happens at one path. */
export type Operation = { readonly path: string } & (
  | { readonly op: 'set'; readonly value: unknown }
  | { readonly op: 'unset' }
  | { readonly op: 'add'; readonly by: number }
  | { readonly op: 'push'; readonly value: unknown; readonly cap: number | undefined }
  | { readonly op: 'pull'; readonly key: string; readonly value: Scalar }
)

/** The operations of a change, whose paths are all different, in the order of the port. */
export function operationsOf({ set = {}, unset = [], ...change }: Change): Operation[] {
  const { increment = {}, push = {}, pull = {} } = change
  const operations: Operation[] = []
  for (const [path, value] of Object.entries(set)) {
    if (value !== undefined) operations.push({ op: 'set', path, value })
  }
  for (const path of unset) operations.push({ op: 'unset', path })
  for (const [path, by] of Object.entries(increment)) operations.push({ op: 'add', path, by })
  for (const [path, { value, cap }] of Object.entries(push)) {
    operations.push({ op: 'push', path, value, cap })
  }
  for (const [path, { key, value }] of Object.entries(pull)) {
    operations.push({ op: 'pull', path, key, value })
  }
  return operations
}

/** The paths that a change names. */
export function changedPaths(change: Change): string[] {
  return operationsOf(change).map(({ path }) => path)
}

/** What takes each kind of step. */
export interface StepTaker<Result> {
  insert(record: Fields): Result
  update(filter: Filter, change: Change, options?: WriteOptions): Result
  updateMany(filter: Filter, change: Change): Result
  delete(filter: Filter, options?: WriteOptions): Result
  deleteMany(filter: Filter): Result
  require(filter: Filter, isThere: boolean, options?: WriteOptions): Result
  guard(name: string): Result
}

/** What `taker` does with a step. */
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

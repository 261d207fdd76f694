/** Steps that are taken in a transaction, and what they do to each record: for stores that note it themselves. */

import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { Filter } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type {
  Change,
  Collection,
  StepResult,
  WriteOptions,
  WriteStep,
} from '../../../src/ports/store/store.ts'
import { take } from '../planner/steps.ts'

/** The writes of one collection, within a transaction. */
export interface StepWrites extends Pick<Collection, 'update' | 'updateMany' | 'delete'> {
  /** Resolves to what is stored, if that is something else. */
  insert(record: Fields): Promise<Fields | void>
  /** Updates a record; resolves to what it was, and what it is. */
  turn(filter: Filter, change: Change, options?: WriteOptions): Promise<Turned | null>
  deleteMany(filter: Filter): Promise<Fields[]>
  /** All records that match, which stay so until this transaction writes them. */
  holdAll(filter: Filter): Promise<Fields[]>
  /** Whether there is a record that matches and holds what is expected, which then stays there until the end. */
  keep(filter: Filter, options?: WriteOptions): Promise<boolean>
  isThere(filter: Filter): Promise<boolean>
}

export type Turned = readonly [before: Fields, after: Fields]

/** What a write has done to one record of a model, for the log. */
export interface Noted {
  readonly model: string
  readonly record: string
  readonly by: string | null
  /** As JSON; null if there was or is none. */
  readonly before: string | null
  readonly after: string | null
  readonly step: number
}

/** What a step did, with what is to be noted; undefined if it failed. */
export interface NotedStep {
  readonly result: StepResult
  readonly records: readonly (readonly [before: Fields | null, after: Fields | null])[]
}

export function takeNoted(step: WriteStep, writes: StepWrites): Promise<NotedStep | undefined> {
  return take<Promise<NotedStep | undefined>>(step, {
    async insert(record) {
      const stored = await writes.insert(record)
      const result = { count: 1, records: stored ? [stored] : [] }
      return { result, records: [[null, stored ?? record]] }
    },
    async update(filter, change, options) {
      if (!isNotable(step)) return updated(null, await writes.update(filter, change, options))
      const [before, after] = (await writes.turn(filter, change, options)) ?? [null, null]
      return updated(before, after)
    },
    async updateMany(filter, change) {
      if (isNotable(step)) return updateAll(filter, change, writes)
      const count = await writes.updateMany(filter, change)
      return { result: { count, records: [] }, records: [] }
    },
    async delete(filter, options) {
      const before = await writes.delete(filter, options)
      return before ? { result: one(before), records: [[before, null]] } : undefined
    },
    async deleteMany(filter) {
      const records = await writes.deleteMany(filter)
      const result = { count: records.length, records }
      return { result, records: records.map((record) => [record, null]) }
    },
    async require(filter, isThere, options) {
      const found = await (isThere ? writes.keep(filter, options) : writes.isThere(filter))
      return found === isThere ? NOTHING : undefined
    },
    guard: async () => NOTHING,
  })
}

const NOTHING: NotedStep = { result: { count: 0, records: [] }, records: [] }

function updated(before: Fields | null, after: Fields | null): NotedStep | undefined {
  return after ? { result: one(after), records: [[before, after]] } : undefined
}

async function updateAll(filter: Filter, change: Change, writes: StepWrites): Promise<NotedStep> {
  const before = await writes.holdAll(filter)
  if (before.length === 0) return NOTHING
  const those: Filter = { op: 'in', field: '_id', values: before.map(({ _id }) => String(_id)) }
  const count = await writes.updateMany(those, change)
  const after = new Map((await writes.holdAll(those)).map((record) => [record._id, record]))
  return {
    result: { count, records: [] },
    records: before.map((record) => [record, after.get(record._id) ?? null]),
  }
}

/** The entries of a step; a record that has ended as it was has none. */
export function notedBy(
  { records }: NotedStep,
  { in: { logged }, by = null }: WriteStep,
  step: number,
): Noted[] {
  if (!logged) return []
  const { model } = logged
  const json = (record: Fields | null) => record && JSON.stringify(record)
  return records.flatMap(([before, after]) => {
    if (isSameContent(before, after)) return []
    const record = String((after ?? before)?._id)
    return { model, record, by, before: json(before), after: json(after), step }
  })
}

/** Whether the log notes what a step does. */
export function isNotable(step: WriteStep): boolean {
  return step.in.logged !== undefined && !('require' in step || 'guard' in step)
}

function one(record: Fields): StepResult {
  return { count: 1, records: [record] }
}

/** What an atomic step has read, as the steps of its write that verify it, and the places where others could overtake it. */

import type { Model } from '../../model/model.ts'
import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import { all, type Filter, idsIn, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { EngineStep } from '../engine/integrity.ts'
import { contentOf } from '../engine/known-updates.ts'
import type { RecordEngine } from '../engine/record-engine.ts'
import { isWrite, type Taken } from './one-step.ts'
import type { OverlaidRecords } from './overlaid-records.ts'

/** What was read of one model. */
interface Seen {
  readonly engine: RecordEngine
  /** The records as they are stored, by id. */
  readonly records: Map<string, Fields>
  /** What no record matched. */
  readonly absent: Filter[]
}

export class Verification {
  /** Where a record was read twice, and was another one the second time. */
  torn: string | undefined
  readonly #recordsOf: (model: Model) => OverlaidRecords
  readonly #seen = new Map<Model, Seen>()

  constructor(recordsOf: (model: Model) => OverlaidRecords) {
    this.#recordsOf = recordsOf
  }

  /** Notes that `found` match `filter`, and if `isAll`, no others. What the step has written counts as it was before. */
  note(engine: RecordEngine, filter: Filter, found: readonly Fields[], isAll: boolean): void {
    const { model } = engine
    const own = this.#recordsOf(model)
    const seen: Seen = this.#seen.get(model) ?? { engine, records: new Map(), absent: [] }
    this.#seen.set(model, seen)
    const { records, absent } = seen
    const { bases, rest } = own.basesOf(filter)
    const stored = found.filter(({ _id }) => !own.hasWritten(String(_id)))
    for (const record of [...bases, ...stored]) {
      const id = String(record._id)
      const known = records.get(id)
      if (!known) records.set(id, record)
      else if (!isSameContent(known, record)) this.torn = recordAt(engine, id)
    }
    const values = stored.map(({ _id }) => String(_id))
    if (isAll)
      absent.push(values.length > 0 ? all([rest, { op: 'nin', field: '_id', values }]) : rest)
  }

  /** `steps`, after those that verify what was read; empty if there is nothing to do. */
  before(steps: readonly Taken[]): readonly EngineStep[] {
    const nameOf = ({ engine }: Seen) => engine.schema.name
    const seen = [...this.#seen.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    const reads = seen.reduce((sum, { records, absent }) => sum + records.size + absent.length, 0)
    // A single read needs no other to agree with.
    if (steps.length === 0 && reads < 2) return []
    const writes = expecting(steps, this.#seen)
    const present = seen.flatMap(({ engine, records }) =>
      [...records]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, record]): EngineStep => {
          const options = { expect: contentOf(engine.model, record) }
          return { engine, action: { require: withId(id), exists: true, options } }
        }),
    )
    const absent = seen.flatMap(({ engine, absent }) =>
      absent.map((filter): EngineStep => ({ engine, action: { require: filter, exists: false } })),
    )
    const again = absent.flatMap((step) => afterWrites(step, steps))
    return [...guardsOf(absent, steps), ...present, ...absent, ...writes, ...again]
  }
}

/** `steps`, the first write of a record expecting it as it was read, so that the store looks once; it leaves `seen`. */
function expecting(steps: readonly Taken[], seen: ReadonlyMap<Model, Seen>): EngineStep[] {
  const opaque = new Set<Model>()
  return steps.map((step) => {
    const { action, was } = step
    const { model } = step.engine
    // Afterwards, any record may be another one.
    if ('updateMany' in action || 'deleteMany' in action) opaque.add(model)
    const records = opaque.has(model) ? undefined : seen.get(model)?.records
    const base = was && records?.get(String(was._id))
    if (!base || !('update' in action || 'delete' in action)) return step
    records?.delete(String(was._id))
    const options = { expect: { ...action.options?.expect, ...contentOf(model, base) } }
    return { ...step, action: { ...action, options } }
  })
}

/**
 * What is absent must be so after the writes of `steps` too: on PostgreSQL one of them may have waited for another writer to give
 * up an id or a unique value, who has stored what was absent.
 */
function afterWrites({ engine, action }: EngineStep, steps: readonly Taken[]): EngineStep[] {
  if (!('require' in action) || steps.some((step) => 'updateMany' in step.action)) return []
  const written = steps.filter(({ is }) => is)
  const values = written.flatMap((step) =>
    step.engine.model === engine.model ? [String(step.is?._id)] : [],
  )
  if (written.length === 0) return []
  const others: Filter = { op: 'nin', field: '_id', values }
  const filter = values.length > 0 ? all([action.require, others]) : action.require
  return [{ engine, action: { require: filter, exists: false } }]
}

/** Steps that rely on what is absent in one model wait for each other: no write conflicts with an absence. */
function guardsOf(absent: readonly EngineStep[], steps: readonly EngineStep[]): EngineStep[] {
  if (absent.length === 0) return []
  const engines = new Map(
    [...absent, ...steps.filter(isWrite)].map(({ engine }) => [engine.model, engine]),
  )
  return [...engines.values()].map((engine) => {
    return { engine, action: { guard: absentFrom(engine) } }
  })
}

function recordAt({ schema }: EngineStep['engine'], id: string): string {
  return `${schema.name} ${id}`
}

function absentFrom({ schema }: EngineStep['engine']): string {
  return `absent ${schema.name}`
}

/** Whether a place is any record that there was not. */
export function isOfModel(place: string): boolean {
  return place.startsWith('absent ')
}

/** The record that a step writes or requires, or where it relies on there being none. */
export function placeOf({ engine, action }: EngineStep): string {
  const { update, delete: removed = update, require: required = removed } = Object(action)
  const [id] = (required && idsIn(required)) ?? []
  return id === undefined ? absentFrom(engine) : recordAt(engine, id)
}

/** Whether a step that was overtaken at `place` could be overtaken by this one. */
export function concerns(step: Taken, place: string): boolean {
  return isWrite(step) && (place === placeOf(step) || place === absentFrom(step.engine))
}

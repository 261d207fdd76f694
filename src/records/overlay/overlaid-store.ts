/**
 * The records of an app with writes that are taken in memory: the code that writes sees them, and nobody else does.
 *
 * Each write is tried on the records in memory, under its own conditions. Later all of them are one write of the store,
 * which checks every condition again.
 */

import type { Model } from '../../model/model.ts'
import type { Settling } from '../../model/versions/renamed-collection.ts'
import { changed } from '../../ports/evaluation/evaluate.ts'
import type { Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { StepResult, WriteAction } from '../../ports/store/store.ts'
import { madeOnce } from '../../ports/values/once.ts'
import type { Host } from '../engine/host.ts'
import type { EngineStep, Integrity, TakeSteps } from '../engine/integrity.ts'
import { holds } from '../engine/known-updates.ts'
import type { RecordEngine } from '../engine/record-engine.ts'
import { writingBySteps } from '../engine/stepwise.ts'
import type { Taken } from './one-step.ts'
import { OverlaidRecords, type Spend } from './overlaid-records.ts'

export interface Writer {
  readonly take: TakeSteps
  /** The id that a new record must have. */
  readonly newId?: () => string | undefined
  readonly spend?: Spend
}

type Requirement = Extract<WriteAction, { readonly require: Filter }>

export class OverlaidStore {
  readonly #host: Host
  readonly #writer: Writer
  readonly #integrity: Integrity
  readonly #records = new Map<Model, OverlaidRecords>()
  /** The engine of a model, whose writes are taken in memory. */
  readonly engine: (model: Model) => RecordEngine = madeOnce((model) => this.#newEngine(model))
  /** Records that were found, and are not looked for again: many steps may refer to one. The write checks it again. */
  readonly #there = new Set<string>()

  constructor(host: Host, writer: Writer) {
    this.#host = host
    this.#writer = writer
    this.#integrity = host.integrity.over(this.engine, writer.take)
  }

  of(model: Model): OverlaidRecords {
    const { spend = () => {} } = this.#writer
    const known = this.#records.get(model)
    const records = known ?? new OverlaidRecords(this.#host.engine(model), spend)
    this.#records.set(model, records)
    return records
  }

  #newEngine(model: Model): RecordEngine {
    const { take, newId } = this.#writer
    const writing = writingBySteps((action) => take([{ engine, action }]))
    const { stored: records } = this.#host.engine(model)
    const stored: Settling = {
      ...this.of(model).collection(writing),
      newId: async () => newId?.() ?? records.newId?.(),
    }
    const engine = this.#host.engine(model).over(stored, this.#integrity, true)
    return engine
  }

  each(call: (records: OverlaidRecords) => void): void {
    for (const records of this.#records.values()) call(records)
  }

  /** The steps in the collections of the store. */
  stored(steps: readonly EngineStep[]): readonly EngineStep[] {
    return steps.map(({ engine, action, author }) => {
      return { engine: this.#host.engine(engine.model), action, author }
    })
  }

  /** Takes all steps in memory, until `keep` or `undo`; or tells the first one that the store would let fail. */
  async tryAll(
    steps: readonly EngineStep[],
  ): Promise<{ readonly taken: readonly Taken[] } | { readonly failed: number }> {
    const taken: Taken[] = []
    for (const [failed, step] of steps.entries()) {
      const done = await this.#taken(step)
      if (!done) {
        this.each((records) => records.undo())
        return { failed }
      }
      taken.push(done)
    }
    return { taken }
  }

  async #taken(step: EngineStep): Promise<Taken | undefined> {
    const { engine, action } = step
    const records = this.of(engine.model)
    if ('guard' in action) return { ...step, did: NOTHING }
    if ('insert' in action) {
      records.note(null, action.insert)
      return { ...step, did: { count: 1, records: [] }, is: action.insert }
    }
    const find = (filter: Filter, limit = 1) => records.find({ filter, sort: [], limit })
    if ('require' in action)
      return (await this.#isMet(engine.model, action)) ? { ...step, did: NOTHING } : undefined
    const every = everyIn(action)
    if (every) {
      const all = await find(every, Number.MAX_SAFE_INTEGER)
      for (const record of all) records.note(record, after(record, action))
      return { ...step, did: { count: all.length, records: all } }
    }
    return this.#one(step, find)
  }

  /** Whether what a step requires is so. */
  async #isMet(model: Model, { require: filter, exists, options }: Requirement): Promise<boolean> {
    const records = this.of(model)
    const id = filter.op === 'eq' && filter.field === '_id' ? String(filter.value) : ''
    const key = `${model.name} ${id}`
    const isStored = id !== '' && !records.hasWritten(id)
    if (isStored && exists && !options?.expect && this.#there.has(key)) return true
    const [one] = await records.find({ filter, sort: [], limit: 1 })
    if (one && isStored) this.#there.add(key)
    return (one !== undefined && holds(one, options?.expect)) === exists
  }

  /** A step that writes one record. */
  async #one(
    step: EngineStep,
    find: (filter: Filter) => Promise<Fields[]>,
  ): Promise<Taken | undefined> {
    const { engine, action } = step
    if (!('update' in action || 'delete' in action)) return undefined
    const [was] = await find('delete' in action ? action.delete : action.update)
    if (!was || !holds(was, action.options?.expect)) return undefined
    const is = after(was, action)
    this.of(engine.model).note(was, is)
    return { ...step, did: { count: 1, records: [is ?? was] }, was, ...(is && { is }) }
  }
}

const NOTHING: StepResult = { count: 0, records: [] }

/** The records of a step that writes all that match. */
function everyIn(action: WriteAction): Filter | undefined {
  if ('updateMany' in action) return action.updateMany
  return 'deleteMany' in action ? action.deleteMany : undefined
}

/** `record` after a step that changes or removes it; null once it is removed. */
function after(record: Fields, action: WriteAction): Fields | null {
  return 'change' in action ? changed(record, action.change) : null
}

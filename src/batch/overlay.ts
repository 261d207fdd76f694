/**
 * What a batch has done so far, in memory: its operations see it, and nobody else does.
 *
 * Each write of an operation is tried on the records in memory, under its own conditions. The steps of all operations
 * are then one write of the store, which checks every condition again. Until that write, an operation waits with what it
 * does after its own: it goes on with the record as it was really stored.
 *
 * @module
 */

import { checkTime } from '../http/deadline.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Model } from '../model/model.ts'
import type { Settling } from '../model/renamed-collection.ts'
import { changed } from '../ports/evaluate.ts'
import { type Filter, nothing } from '../ports/filter.ts'
import {
  DuplicateKey,
  RefusedWrite,
  type StepResult,
  type WriteAction,
  type WriteOutcome,
} from '../ports/store.ts'
import { type Host, HostedRecords } from '../records/engine/host.ts'
import type { EngineStep, Integrity } from '../records/engine/integrity.ts'
import { holds, type RecordEngine } from '../records/engine/record-engine.ts'
import type { RecordStore } from '../records/engine/record-store.ts'
import type { Resource } from '../records/setup/resource.ts'
import { OverlaidRecords, type Writing } from './overlaid-records.ts'

/** An operation whose write the store refuses with an error of its own, e.g. for a unique value that is taken. */
export interface Refusal {
  readonly operation: number
  readonly error: DuplicateKey | RefusedWrite
}

/** Why a batch was not written: the store refuses an operation, or at this one it met another writer. */
export type Unwritten = { readonly refusal: Refusal } | { readonly overtaken: number }

/** The steps of one operation, and the promise on which it waits. */
interface Part {
  readonly operation: number
  readonly steps: readonly EngineStep[]
  readonly written: PromiseWithResolvers<WriteOutcome>
}

/** The state of one run of a batch. */
export class Overlay {
  /** The records as the batch sees them, for the code of guards; what this writes is stored at once, as alone. */
  readonly store: RecordStore
  readonly #host: Host
  readonly #request: ApiRequest
  readonly #refusal: Refusal | undefined
  readonly #ids: Map<number, string>
  readonly #integrity: Integrity
  readonly #records = new Map<Model, OverlaidRecords>()
  readonly #engines = new Map<Model, RecordEngine>()
  readonly #resources = new Map<Resource, Resource>()
  readonly #parts: Part[] = []
  #results: readonly StepResult[] = []
  #operation = 0
  #hasWritten: () => void = () => {}
  #state: 'open' | 'written' | 'abandoned' = 'open'

  /**
   * `ids` are those of the records that operations create: every run of a batch creates them under the same ones.
   * `refusal` is what an earlier run has met.
   */
  constructor(host: Host, request: ApiRequest, ids: Map<number, string>, refusal?: Refusal) {
    this.#host = host
    this.#request = request
    this.#ids = ids
    this.#refusal = refusal
    this.#integrity = host.integrity.over(
      (model) => this.#engine(model),
      (steps) => this.#take(steps),
    )
    this.store = new HostedRecords(
      host,
      async () => checkTime(request),
      (model) => {
        const { stored } = host.engine(model)
        return host.engine(model).over(this.#of(model).collection(stored), host.integrity)
      },
    )
  }

  /** Begins the operation with this index; the promise resolves when it has written. */
  begin(operation: number): Promise<void> {
    this.#operation = operation
    return new Promise((resolve) => {
      this.#hasWritten = resolve
    })
  }

  /** The resource, over the records as the batch sees them. */
  resource(resource: Resource): Resource {
    const known = this.#resources.get(resource)
    if (known) return known
    const engine = (model: Model) => this.#engine(model)
    const host = { ...resource.host, engine }
    const own = { ...resource, engine: engine(resource.model), host }
    this.#resources.set(resource, own)
    return own
  }

  /** The id of the record that an earlier operation has created; undefined if it has not. */
  createdBy(operation: number): string | undefined {
    return operation < this.#operation ? this.#ids.get(operation) : undefined
  }

  /** Writes what all operations have done; undefined if it was written. */
  async write(): Promise<Unwritten | undefined> {
    const steps = this.#parts.flatMap((part) => part.steps)
    checkTime(this.#request)
    let outcome: WriteOutcome = { results: [] }
    try {
      if (steps.length > 0) outcome = await this.#host.integrity.write(this.#stored(steps))
    } catch (error) {
      return this.#refusedBy(error)
    }
    if ('failed' in outcome) return { overtaken: this.#operationOf(outcome.failed) }
    this.#state = 'written'
    this.#results = outcome.results
    return undefined
  }

  /** Lets an operation go on that waits for what was written. Reads find what it has left, as alone. */
  release(operation: number): void {
    this.#each((records) => records.rewind(operation))
    let from = 0
    for (const part of this.#parts) {
      const to = from + part.steps.length
      if (part.operation === operation) {
        part.written.resolve({ results: this.#results.slice(from, to) })
      }
      from = to
    }
  }

  /** Why the store would not write what has been done so far, as far as memory can't tell; undefined if it would. */
  async doubt(): Promise<Unwritten | undefined> {
    const isSure = ({ engine: { schema }, action }: EngineStep) =>
      'require' in action || (schema.unique.length === 0 && !schema.adopted)
    if (this.#refusal || this.#parts.every(({ steps }) => steps.every(isSure))) return undefined
    try {
      return await this.#rehearse(this.#parts.length)
    } catch (error) {
      return this.#refusedBy(error)
    }
  }

  /** Ends the operations that wait: nothing is written. */
  abandon(): void {
    this.#state = 'abandoned'
    for (const { written } of this.#parts) written.reject(new Error('the batch was not written'))
  }

  /** Finds the operation that the store refuses with an error. Throws any other error, and one that no operation causes. */
  async #refusedBy(thrown: unknown): Promise<Unwritten> {
    let error = refusalIn(thrown)
    let [passing, refused] = [0, this.#parts.length + 1]
    while (refused - passing > 1) {
      const middle = (passing + refused) >> 1
      try {
        const unwritten = await this.#rehearse(middle)
        if (unwritten) return unwritten
        passing = middle
      } catch (again) {
        error = refusalIn(again)
        refused = middle
      }
    }
    const part = this.#parts[refused - 1]
    if (part) return { refusal: { operation: part.operation, error } }
    // Whoever had the value has given it up meanwhile.
    if (error instanceof DuplicateKey) return { overtaken: this.#operation }
    throw error
  }

  /** Lets the store take the first `count` parts, and then a step that fails, so that nothing is written. */
  async #rehearse(count: number): Promise<Unwritten | undefined> {
    const steps = this.#parts.slice(0, count).flatMap((part) => part.steps)
    const [first] = steps
    if (!first) return undefined
    const end: EngineStep = { engine: first.engine, action: { require: nothing, exists: true } }
    const outcome = await this.#host.integrity.write(this.#stored([...steps, end]))
    const failed = 'failed' in outcome ? outcome.failed : steps.length
    return failed === steps.length ? undefined : { overtaken: this.#operationOf(failed) }
  }

  #operationOf(step: number): number {
    let left = step
    for (const { operation, steps } of this.#parts) {
      if (left < steps.length) return operation
      left -= steps.length
    }
    return this.#operation
  }

  #each(call: (records: OverlaidRecords) => void): void {
    for (const records of this.#records.values()) call(records)
  }

  #of(model: Model): OverlaidRecords {
    const records =
      this.#records.get(model) ?? new OverlaidRecords(model, this.#host.engine(model).stored)
    this.#records.set(model, records)
    return records
  }

  #engine(model: Model): RecordEngine {
    const known = this.#engines.get(model)
    if (known) return known
    const one = async (action: WriteAction) => {
      const outcome = await this.#take([{ engine, action }])
      return 'results' in outcome ? outcome.results[0] : undefined
    }
    const writing: Writing = {
      insert: async (record) => void (await one({ insert: record })),
      update: async (update, change, options) =>
        (await one({ update, change, ...(options && { options }) }))?.records[0] ?? null,
      updateMany: async (updateMany, change) => (await one({ updateMany, change }))?.count ?? 0,
      delete: async (filter, options) =>
        (await one({ delete: filter, ...(options && { options }) }))?.records[0] ?? null,
    }
    const { stored: records } = this.#host.engine(model)
    const stored: Settling = {
      ...this.#of(model).collection(writing),
      newId: async () => this.#ids.get(this.#operation) ?? records.newId?.(),
    }
    const engine = this.#host.engine(model).over(stored, this.#integrity)
    this.#engines.set(model, engine)
    return engine
  }

  /** The steps in the collections of the store. */
  #stored(steps: readonly EngineStep[]): readonly EngineStep[] {
    return steps.map(({ engine, action }) => ({ engine: this.#host.engine(engine.model), action }))
  }

  /** Takes the steps of the operation in memory, and waits for the store to take them. */
  async #take(steps: readonly EngineStep[]): Promise<WriteOutcome> {
    if (this.#state === 'written') return this.#host.integrity.write(this.#stored(steps))
    if (this.#state === 'abandoned') throw new Error('the batch was not written')
    for (const [failed, step] of steps.entries()) {
      if (await this.#isTaken(step)) continue
      this.#each((records) => records.undo())
      return { failed }
    }
    if (this.#refusal?.operation === this.#operation) {
      this.#each((records) => records.undo())
      throw this.#refusal.error
    }
    this.#each((records) => records.keep(this.#operation))
    for (const { action } of steps) {
      if ('insert' in action) this.#ids.set(this.#operation, String(action.insert._id))
    }
    const written = Promise.withResolvers<WriteOutcome>()
    this.#parts.push({ operation: this.#operation, steps, written })
    this.#hasWritten()
    return written.promise
  }

  /** Takes a step in memory; false if the store would let it fail. */
  async #isTaken({ engine: { model }, action }: EngineStep): Promise<boolean> {
    const records = this.#of(model)
    const found = (filter: Filter, limit: number) => records.find({ filter, sort: [], limit })
    if ('insert' in action) {
      records.note(null, action.insert)
      return true
    }
    if ('require' in action) {
      return (await found(action.require, 1)).length > 0 === action.exists
    }
    if ('updateMany' in action) {
      const all = await found(action.updateMany, Number.MAX_SAFE_INTEGER)
      for (const record of all) records.note(record, changed(record, action.change))
      return true
    }
    if ('deleteMany' in action) {
      const all = await found(action.deleteMany, Number.MAX_SAFE_INTEGER)
      for (const record of all) records.note(record, null)
      return true
    }
    const isRemoval = 'delete' in action
    const [record] = await found(isRemoval ? action.delete : action.update, 1)
    if (!record || !holds(record, action.options?.expect)) return false
    records.note(record, isRemoval ? null : changed(record, action.change))
    return true
  }
}

/** `error` if a store refuses an operation with it; throws any other error. */
function refusalIn(error: unknown): Refusal['error'] {
  if (error instanceof DuplicateKey || error instanceof RefusedWrite) return error
  throw error
}

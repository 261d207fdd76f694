/**
 * What a batch has done so far, in memory: its operations see it, and nobody else does. Until it is written, an operation
 * waits with what it does after its own write: it goes on with the record as it was really stored.
 */

import { checkTime } from '../http/deadline.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { utf8Length } from '../http/response/respond.ts'
import { nothing } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { StepResult, WriteOutcome } from '../ports/store/store.ts'
import { DuplicateKey, RefusedWrite } from '../ports/store/store-errors.ts'
import { madeOnce } from '../ports/values/once.ts'
import type { Author } from '../records/engine/author.ts'
import { type Host, hostedRecords } from '../records/engine/host.ts'
import type { EngineStep } from '../records/engine/integrity.ts'
import { KEYED, type Keyed, noteWrite, type WrittenIds } from '../records/engine/keyed-writes.ts'
import type { RecordStore } from '../records/engine/record-store.ts'
import { joinSteps, resultsOf, type Taken } from '../records/overlay/one-step.ts'
import { OverlaidStore } from '../records/overlay/overlaid-store.ts'
import type { Resource } from '../records/setup/resource.ts'
import { batchTooLarge } from './refusals.ts'

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
  readonly steps: readonly Taken[]
  readonly written: PromiseWithResolvers<WriteOutcome>
}

interface BatchRequest {
  readonly host: Host
  readonly request: ApiRequest
  readonly operations: readonly unknown[]
}

export class Overlay {
  /** The records as the batch sees them, for the code of guards; what this writes is stored at once, as alone. */
  readonly store: RecordStore
  readonly #batch: BatchRequest
  readonly #refusal: Refusal | undefined
  readonly #ids: Map<number, string>
  /** The bytes that all operations may still have together. */
  #left: number
  /** The bytes of the records that operations respond with. */
  readonly #answers = new Map<number, number>()
  readonly #records: OverlaidStore
  readonly #parts: Part[] = []
  #results: readonly StepResult[] = []
  #operation = 0
  #author: Author | undefined
  #hasWritten: () => void = () => {}
  #state: 'open' | 'written' | 'abandoned' = 'open'

  /** `ids` are those of created records, the same in every run; `refusal` is what an earlier run has met. */
  constructor(batch: BatchRequest, ids: Map<number, string>, refusal?: Refusal) {
    const { host, request } = batch
    this.#batch = batch
    this.#ids = ids
    this.#refusal = refusal
    this.#left = host.maxResponseBytes
    this.#records = new OverlaidStore(host, {
      take: (steps) => this.#take(steps),
      newId: () => this.#ids.get(this.#operation),
      // After the write nothing can be refused.
      spend: (found) => {
        if (this.#state === 'open') for (const record of found) this.#spend(sizeOf(record))
      },
    })
    this.store = hostedRecords(host, async () => checkTime(request), {
      engine: (model) => host.engine(model).over(this.#records.of(model).copies(), host.integrity),
    })
  }

  /** Begins the operation with this index, that of `author`; the promise resolves when it has written. */
  begin(operation: number, author: Author): Promise<void> {
    this.#operation = operation
    this.#author = author
    return new Promise((resolve) => {
      this.#hasWritten = resolve
    })
  }

  /** The resource, over the records as the batch sees them. */
  readonly resource: (resource: Resource) => Resource = madeOnce((resource) => {
    const { engine } = this.#records
    const host = { ...resource.host, engine }
    const own = { ...resource, engine: engine(resource.model), host, maxResponseBytes: 0 }
    // References are filled in after the write, when nothing can be refused any more: within what is left.
    const most = () =>
      (this.#answers.get(this.#operation) ?? 0) +
      Math.floor(this.#left / this.#batch.operations.length)
    Object.defineProperty(own, 'maxResponseBytes', { get: most })
    return own
  })

  /** The id of the record that an earlier operation has created; undefined if it has not. */
  createdBy(operation: number): string | undefined {
    return operation < this.#operation ? this.#ids.get(operation) : undefined
  }

  /** Writes what all operations have done; undefined if it was written. */
  async write(): Promise<Unwritten | undefined> {
    const taken = this.#parts.flatMap((part) => part.steps)
    const plan = joinSteps(taken)
    checkTime(this.#batch.request)
    let outcome: WriteOutcome = { results: [] }
    try {
      const { [KEYED]: keyed } = this.#batch.request as Keyed
      const along = keyed?.receipt && { receipt: keyed.receipt, ids: this.#writtenIds() }
      const write = () => this.#batch.host.integrity.write(this.#records.stored(plan.steps), along)
      if (taken.length > 0) outcome = await (keyed ? noteWrite(keyed, write()) : write())
    } catch (error) {
      return this.#refusedBy(error)
    }
    if ('failed' in outcome) {
      return { overtaken: this.#operationOf(plan.places.indexOf(outcome.failed)) }
    }
    this.#state = 'written'
    this.#results = resultsOf(taken, plan, outcome.results)
    return undefined
  }

  /** The ids of the records that operations write, by operation. */
  #writtenIds(): WrittenIds {
    const stepOf = (at: number) => this.#parts.find(({ operation }) => operation === at)?.steps[0]
    return Array.from({ length: this.#batch.operations.length }, (_, at) => {
      const id = this.#ids.get(at) ?? stepOf(at)?.is?._id
      return typeof id === 'string' ? id : null
    })
  }

  /** Lets an operation go on that waits for what was written. Reads find what it has left, as alone. */
  release(operation: number): void {
    this.#operation = operation
    this.#records.each((records) => records.rewind(operation))
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

  /**
   * Finds the operation that the store refuses with an error, by writes of some of them. Throws any other error, and one that no
   * operation causes.
   */
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
    const { steps, places } = joinSteps(this.#parts.slice(0, count).flatMap((part) => part.steps))
    const [first] = steps
    if (!first) return undefined
    const end: EngineStep = { engine: first.engine, action: { require: nothing, exists: true } }
    const outcome = await this.#batch.host.integrity.write(this.#records.stored([...steps, end]))
    const failed = 'failed' in outcome ? outcome.failed : steps.length
    if (failed === steps.length) return undefined
    return { overtaken: this.#operationOf(places.indexOf(failed)) }
  }

  /** The operation that the step with this index belongs to. */
  #operationOf(step: number): number {
    let left = step
    for (const { operation, steps } of this.#parts) {
      if (left < steps.length) return operation
      left -= steps.length
    }
    return this.#operation
  }

  /** Ends the operations that wait: nothing is written. */
  abandon(): void {
    this.#state = 'abandoned'
    for (const { written } of this.#parts) written.reject(new Error('the batch was not written'))
  }

  /** Takes the steps of the operation in memory, and waits for the store to take them. */
  async #take(steps: readonly EngineStep[]): Promise<WriteOutcome> {
    const records = this.#records
    if (this.#state === 'written') return this.#batch.host.integrity.write(records.stored(steps))
    if (this.#state === 'abandoned') throw new Error('the batch was not written')
    const tried = await records.tryAll(steps)
    if ('failed' in tried) return tried
    const author = this.#author
    const taken = tried.taken.map((step) => ({ ...step, author }))
    this.#answer(taken)
    if (this.#refusal?.operation === this.#operation) {
      records.each((one) => one.undo())
      throw this.#refusal.error
    }
    records.each((one) => one.keep(this.#operation))
    for (const { action } of steps) {
      if ('insert' in action) this.#ids.set(this.#operation, String(action.insert._id))
    }
    const written = Promise.withResolvers<WriteOutcome>()
    this.#parts.push({ operation: this.#operation, steps: taken, written })
    this.#hasWritten()
    return written.promise
  }

  /** Counts the records that the operation responds with. */
  #answer(taken: readonly Taken[]): void {
    const operation = this.#operation
    for (const { is } of taken) {
      if (!is) continue
      const bytes = sizeOf(is)
      this.#answers.set(operation, (this.#answers.get(operation) ?? 0) + bytes)
      this.#spend(bytes)
    }
  }

  /** Counts `bytes` more. Throws a 413 once there are too many. */
  #spend(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw batchTooLarge()
  }
}

/** `error` if a store refuses an operation with it; throws any other error. */
function refusalIn(error: unknown): Refusal['error'] {
  if (error instanceof DuplicateKey || error instanceof RefusedWrite) return error
  throw error
}

function sizeOf(record: Fields): number {
  let bytes = 2
  for (const [name, value] of Object.entries(record)) {
    bytes += name.length + 4
    if (typeof value === 'object' && value !== null) bytes += lengthOf(value)
    else bytes += typeof value === 'string' ? utf8Length(value) + 2 : String(value).length
  }
  return bytes
}

/** The length of values that several records, or versions of one, may share. */
const lengthOf = madeOnce((value: object) => utf8Length(JSON.stringify(value) ?? ''))

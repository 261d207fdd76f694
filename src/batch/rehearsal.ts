/** Which operation of a batch the store would not write: found by writes of some of them, with a step that fails. */

import { nothing } from '../ports/store/filter.ts'
import type { WriteOutcome } from '../ports/store/store.ts'
import { DuplicateKey, RefusedWrite } from '../ports/store/store-errors.ts'
import type { EngineStep } from '../records/engine/integrity.ts'
import { joinSteps, type Taken } from '../records/overlay/one-step.ts'

/** An operation whose write the store refuses with an error of its own, e.g. for a unique value that is taken. */
export interface Refusal {
  readonly operation: number
  readonly error: DuplicateKey | RefusedWrite
}

/** Why a batch was not written: the store refuses an operation, or at this one it met another writer. */
export type Unwritten = { readonly refusal: Refusal } | { readonly overtaken: number }

/** The steps of one operation, and the promise on which it waits. */
export interface Part {
  readonly operation: number
  readonly steps: readonly Taken[]
  readonly written: PromiseWithResolvers<WriteOutcome>
}

interface RehearsedBatch {
  write(steps: readonly EngineStep[]): Promise<WriteOutcome>
  current(): number
}

export class Rehearsal {
  readonly #parts: readonly Part[]
  readonly #batch: RehearsedBatch

  /** `parts` may grow. */
  constructor(parts: readonly Part[], batch: RehearsedBatch) {
    this.#parts = parts
    this.#batch = batch
  }

  /** Finds the operation that the store refuses with an error. Throws any other error, and one that no operation causes. */
  async refusedBy(thrown: unknown): Promise<Unwritten> {
    let error = refusalIn(thrown)
    let [passing, refused] = [0, this.#parts.length + 1]
    while (refused - passing > 1) {
      const middle = (passing + refused) >> 1
      try {
        const unwritten = await this.rehearse(middle)
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
    if (error instanceof DuplicateKey) return { overtaken: this.#batch.current() }
    throw error
  }

  /** Lets the store take the first `count` parts, and then a step that fails, so that nothing is written. */
  async rehearse(count: number): Promise<Unwritten | undefined> {
    const { steps, places } = joinSteps(this.#parts.slice(0, count).flatMap((part) => part.steps))
    const [first] = steps
    if (!first) return undefined
    const end: EngineStep = { engine: first.engine, action: { require: nothing, exists: true } }
    const outcome = await this.#batch.write([...steps, end])
    const failed = 'failed' in outcome ? outcome.failed : steps.length
    if (failed === steps.length) return undefined
    return { overtaken: this.operationOf(places.indexOf(failed)) }
  }

  /** The operation that the step with this index belongs to. */
  operationOf(step: number): number {
    let left = step
    for (const { operation, steps } of this.#parts) {
      if (left < steps.length) return operation
      left -= steps.length
    }
    return this.#batch.current()
  }
}

/** `error` if a store refuses an operation with it; throws any other error. */
function refusalIn(error: unknown): Refusal['error'] {
  if (error instanceof DuplicateKey || error instanceof RefusedWrite) return error
  throw error
}

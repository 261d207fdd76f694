/**
 * `app.store.atomic`: your code reads and writes records in memory, and what it has done is one write of the store, which
 * checks that what was read is still the same.
 *
 * @module
 */

import { changedMeanwhile } from '../../http/refusals.ts'
import type { Model } from '../../model/model.ts'
import { withId } from '../../ports/filter.ts'
import { DuplicateKey, type WriteOutcome } from '../../ports/store.ts'
import type { Author } from '../engine/author.ts'
import { clashingFields, duplicateIn } from '../engine/clashes.ts'
import type { Origin } from '../engine/find-options.ts'
import type { Host } from '../engine/host.ts'
import { checkGuards, type EngineStep } from '../engine/integrity.ts'
import { type Collections, type NoteRead, recordCollection } from '../engine/record-store.ts'
import { pause, SerialQueue } from '../engine/serial-queue.ts'
import { joinSteps, type Taken } from './one-step.ts'
import { OverlaidStore } from './overlaid-store.ts'
import { Verification } from './verification.ts'

/** How often the work runs that other writers overtake. */
const MAX_RUNS = 3
/** The most records that one step may write. */
const MAX_WRITES = 1000

/** The code of one step. */
type Work<T> = (tx: Collections) => T | Promise<T>

/** The atomic steps of one app. */
export class AtomicSteps {
  readonly #host: Host
  /** Steps that were overtaken run one after the other. */
  readonly #queue = new SerialQueue()
  #isChecked = false

  constructor(host: Host) {
    this.#host = host
  }

  /** What `work` returns, once what it has written is stored. `ready` rejects if the records may not be used any more. */
  async run<T>(work: Work<T>, ready: () => Promise<void>, author?: Author): Promise<T> {
    await ready()
    if (!this.#isChecked) await checkGuards(this.#host.database, 'store.atomic():', 'the call')
    this.#isChecked = true
    const attempt = () => new AtomicStep(this.#host, ready, author).run(work)
    for (let runs = 0; runs < MAX_RUNS; runs += 1) {
      if (runs > 1) await pause(runs)
      const outcome = await (runs === 0 ? attempt() : this.#queue.after('', attempt))
      if (outcome) return outcome.result
    }
    throw changedMeanwhile()
  }
}

/** One run of one step. */
class AtomicStep {
  readonly #host: Host
  readonly #ready: () => Promise<void>
  readonly #records: OverlaidStore
  readonly #origin: Origin
  readonly #verification: Verification
  readonly #author: Author | undefined
  readonly #taken: Taken[] = []
  #writes = 0
  /** The end of the last write: each finds what those before have done. */
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(host: Host, ready: () => Promise<void>, author: Author | undefined) {
    this.#host = host
    this.#ready = ready
    this.#author = author
    this.#records = new OverlaidStore(host, { take: (steps) => this.#inTurn(steps) })
    this.#origin = { ...host, engine: (model) => this.#records.engine(model) }
    this.#verification = new Verification((model) => this.#records.of(model))
  }

  /** What `work` returns, once it is stored; undefined if what it has read has changed. */
  async run<T>(work: Work<T>): Promise<{ readonly result: T } | undefined> {
    try {
      const result = await work({
        collection: (model) => this.#collection(model as unknown as Model) as never,
      })
      this.#isOver = true
      return (await this.#write()) ? { result } : undefined
    } catch (error) {
      // It may have thrown because it has seen a half of what another step has written.
      const isOfWrite = this.#isOver
      this.#isOver = true
      if (isOfWrite || (await this.#holds().catch(() => true))) throw error
      return undefined
    }
  }

  /** Whether what was read is still so. */
  async #holds(): Promise<boolean> {
    const steps = this.#records.stored(this.#verification.before([]))
    return steps.length === 0 || 'results' in (await this.#host.integrity.write(steps))
  }

  #collection(model: Model) {
    const ready = async () => {
      if (this.#isOver) throw over()
      await this.#ready()
    }
    const note: NoteRead = (filter, found, isAll) =>
      this.#verification.note(this.#records.engine(model), filter, found, isAll)
    return recordCollection(this.#origin, model, ready, note)
  }

  /** Writes what the work has done; false if what it has read has changed. */
  async #write(): Promise<boolean> {
    await this.#last
    this.#checkCount()
    const { steps } = joinSteps(this.#taken)
    const verified = this.#verification.before(steps)
    if (verified.length === 0) return true
    await this.#ready()
    try {
      const author = this.#author
      const steps = this.#records.stored(verified).map((step) => ({ ...step, author }))
      return 'results' in (await this.#host.integrity.write(steps))
    } catch (error) {
      if (error instanceof DuplicateKey) return this.#refuseDuplicates(error)
      throw error
    }
  }

  #inTurn(steps: readonly EngineStep[]): Promise<WriteOutcome> {
    // The code of the step may change what it has passed.
    const own = steps.map(({ engine, action }) => ({ engine, action: structuredClone(action) }))
    const taking = this.#last.then(() => this.#take(own))
    this.#last = taking.catch(() => {})
    return taking
  }

  async #take(steps: readonly EngineStep[]): Promise<WriteOutcome> {
    if (this.#isOver) throw over()
    const tried = await this.#records.tryAll(steps)
    if ('failed' in tried) return tried
    this.#records.each((records) => records.keep(0))
    this.#taken.push(...tried.taken)
    this.#writes += tried.taken.reduce((sum, { did }) => sum + did.count, 0)
    this.#checkCount()
    return { results: tried.taken.map(({ did }) => did) }
  }

  #checkCount(): void {
    if (this.#writes <= MAX_WRITES) return
    throw new TypeError(`an atomic step can't write more than ${MAX_WRITES} records`)
  }

  /** Throws the 409 of a unique value that is taken; false if whoever had it has given it up meanwhile. */
  async #refuseDuplicates(error: DuplicateKey): Promise<false> {
    for (const { engine, is } of this.#taken) {
      if (!is) continue
      const { model } = engine
      const refused = { filter: withId(String(is._id)), changes: is }
      const fields = await clashingFields(model, engine.stored, refused, new DuplicateKey([]))
      if (fields.length > 0) throw duplicateIn(model, fields)
    }
    if (error.fields.includes('_id')) throw duplicateIn({ hidden: [] }, error.fields)
    return false
  }
}

function over(): Error {
  return new Error('the atomic step is over: its code must await all that it does')
}

/** `app.store.atomic`: what your code does in memory is one write, which checks that what it has read is the same. */

import { changedMeanwhile } from '../../http/errors/refusals.ts'
import type { Model } from '../../model/model.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { withId } from '../../ports/store/filter.ts'
import type { WriteOutcome } from '../../ports/store/store.ts'
import { DuplicateKey } from '../../ports/store/store-errors.ts'
import type { Author } from '../engine/author.ts'
import { clashingFields, duplicateIn } from '../engine/clashes.ts'
import type { Origin } from '../engine/find-options.ts'
import type { Host } from '../engine/host.ts'
import { checkGuards, type EngineStep } from '../engine/integrity.ts'
import { type Collections, type NoteRead, recordCollection } from '../engine/record-store.ts'
import { type Attempt, SerialQueue } from '../engine/serial-queue.ts'
import { joinSteps, type Taken } from './one-step.ts'
import { OverlaidStore } from './overlaid-store.ts'
import { concerns, isOfModel, placeOf, Verification } from './verification.ts'

/** How often the work runs that other writers overtake. */
const MAX_RUNS = 3
/** The most records that one step may write. */
const MAX_WRITES = 1000

/** Where a step was overtaken. */
type Places = readonly string[]

const NONE: ReadonlySet<Places> = new Set()

type Work<T> = (tx: Collections) => T | Promise<T>

/** `app.store.atomic` of `host`. */
export function atomicSteps(host: Host): Host['atomic'] {
  /** Steps that were overtaken run one after the other. */
  const queue = new SerialQueue()
  /** Where they were: new steps that write there wait for them, or would overtake them again and again. */
  const awaited = new Set<Places>()
  let isChecked = false
  return async <T>(work: Work<T>, ready: () => Promise<void>, author?: Author): Promise<T> => {
    await ready()
    if (!isChecked) await checkGuards(host.database, 'store.atomic():', 'the call')
    isChecked = true
    let runs = 0
    const own: string[] = []
    const attempt = async (): Promise<Attempt<T>> => {
      runs += 1
      const step = new AtomicStep({ host, ready, author, awaited: runs === 1 ? awaited : NONE })
      const end = await step.run(work, runs === MAX_RUNS)
      if ('result' in end) return end
      // At first for a record only: who writes to a model may not meet it, and all of them would line up.
      if (runs > 1 || !isOfModel(end.overtaken)) own.push(end.overtaken)
      awaited.add(own)
      return { overtaken: '' }
    }
    const done = await queue.retry(MAX_RUNS, attempt).finally(() => awaited.delete(own))
    if (!done) throw changedMeanwhile()
    return done.result
  }
}

interface StepNeeds {
  readonly host: Host
  readonly ready: () => Promise<void>
  readonly author: Author | undefined
  readonly awaited: ReadonlySet<Places>
}

/** One run of one step. */
class AtomicStep {
  readonly #needs: StepNeeds
  readonly #records: OverlaidStore
  readonly #origin: Origin
  readonly #verification: Verification
  readonly #taken: Taken[] = []
  #writes = 0
  /** The end of the last write: each finds what those before have done. */
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(needs: StepNeeds) {
    const { host } = needs
    this.#needs = needs
    this.#records = new OverlaidStore(host, { take: (steps) => this.#inTurn(steps) })
    this.#origin = { ...host, engine: this.#records.engine }
    this.#verification = new Verification((model) => this.#records.of(model))
  }

  /** What `work` returns, once it is stored; or where what it has read has changed. */
  async run<T>(work: Work<T>, isLast: boolean): Promise<Attempt<T>> {
    try {
      const result = await work({
        collection: (model) => this.#collection(model as unknown as Model) as never,
      })
      this.#isOver = true
      const overtaken = await this.#write(isLast)
      return overtaken === undefined ? { result } : { overtaken }
    } catch (error) {
      // It may have thrown because it has seen a half of what another step has written.
      const isOfWrite = this.#isOver
      this.#isOver = true
      const overtaken = isOfWrite ? undefined : await this.#changed().catch(() => undefined)
      if (overtaken === undefined) throw error
      return { overtaken }
    }
  }

  /** Where what was read is another now, if anywhere. */
  async #changed(): Promise<string | undefined> {
    const { torn } = this.#verification
    const steps = this.#verification.before([])
    return torn ?? (steps.length > 0 ? this.#send(steps) : undefined)
  }

  /** Takes the steps in one write of the store; the place of the one that fails. */
  async #send(steps: readonly EngineStep[]): Promise<string | undefined> {
    const { author, host } = this.#needs
    const stored = this.#records.stored(steps).map((step) => ({ ...step, author }))
    const outcome = await host.integrity.write(stored)
    if ('results' in outcome) return undefined
    const failed = steps[outcome.failed]
    return failed ? placeOf(failed) : ''
  }

  #collection(model: Model) {
    const ready = async () => {
      if (this.#isOver) throw over()
      await this.#needs.ready()
    }
    const note: NoteRead = (filter, found, isAll) =>
      this.#verification.note(this.#records.engine(model), filter, found, isAll)
    return recordCollection(this.#origin, model, ready, note)
  }

  /** Writes what the work has done; or where what it has read has changed, or others have waited for longer. */
  async #write(isLast: boolean): Promise<string | undefined> {
    await this.#last
    const { torn } = this.#verification
    if (torn !== undefined) return torn
    this.#checkCount()
    const { steps } = joinSteps(this.#taken)
    const verified = this.#verification.before(steps)
    if (verified.length === 0) return undefined
    await this.#needs.ready()
    const isAwaited = (place: string) => steps.some((step) => concerns(step, place))
    const awaited = [...this.#needs.awaited].flat().find(isAwaited)
    if (awaited !== undefined) return awaited
    try {
      return await this.#send(verified)
    } catch (error) {
      if (error instanceof DuplicateKey) return this.#refuseDuplicates(error, isLast)
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
    throw new TypeError(`a step can't write more than ${MAX_WRITES} records`)
  }

  /**
   * Throws the 409 of a unique value that is taken. Before the last run, nowhere if nothing has it: it was given up meanwhile,
   * the set is another version's, or the database takes other values for equal.
   */
  async #refuseDuplicates(error: DuplicateKey, isLast: boolean): Promise<''> {
    const isThere = new Map<string, boolean>()
    for (const { engine, action, was, is } of this.#taken) {
      const { model } = engine
      const id = String((is ?? was)?._id)
      const key = `${id} ${model.name}`
      const isKnown = isThere.get(key)
      isThere.set(key, is !== undefined)
      if (!is) continue
      const filter = withId(id)
      const refused = { filter, changes: is }
      const fields = await clashingFields(model, engine.stored, refused, [])
      // What the step has done hides the record that has the id of a new one.
      const { stored } = this.#needs.host.engine(model)
      const isTaken =
        'insert' in action && (isKnown ?? (await firstIn(stored, filter)) !== undefined)
      const taken = isTaken ? ['_id', ...fields] : fields
      if (taken.length > 0) throw duplicateIn(model, taken)
    }
    if (!isLast) return ''
    const hidden = this.#taken.flatMap(({ engine }) => engine.model.hidden)
    throw duplicateIn({ hidden }, error.fields)
  }
}

function over(): Error {
  return new Error('the atomic step is over: await its calls')
}

/** `app.store.atomic`: what your code does in memory is one write, which checks that what it has read is the same. */

import { changedMeanwhile } from '../../http/errors/refusals.ts'
import type { Model } from '../../model/model.ts'
import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { all, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { WriteOutcome } from '../../ports/store/store.ts'
import { DuplicateKey } from '../../ports/store/store-errors.ts'
import type { Author } from '../engine/author.ts'
import { clashingFields, duplicateIn } from '../engine/clashes.ts'
import type { Origin } from '../engine/find-options.ts'
import type { Host } from '../engine/host.ts'
import { checkGuards, type EngineStep } from '../engine/integrity.ts'
import { contentOf } from '../engine/known-updates.ts'
import type { RecordEngine } from '../engine/record-engine.ts'
import { type Collections, type NoteRead, recordCollection } from '../engine/record-store.ts'
import { pause, SerialQueue } from '../engine/serial-queue.ts'
import { isWrite, joinSteps, type Taken } from './one-step.ts'
import type { OverlaidRecords } from './overlaid-records.ts'
import { OverlaidStore } from './overlaid-store.ts'

/** How often the work runs that other writers overtake. */
const MAX_RUNS = 3
/** The most records that one step may write. */
const MAX_WRITES = 1000

type Work<T> = (tx: Collections) => T | Promise<T>

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
    let runs = 0
    const attempt = () => new AtomicStep(this.#host, ready, author).run(work, runs === MAX_RUNS - 1)
    for (; runs < MAX_RUNS; runs += 1) {
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
    this.#origin = { ...host, engine: this.#records.engine }
    this.#verification = new Verification((model) => this.#records.of(model))
  }

  /** What `work` returns, once it is stored; undefined if what it has read has changed. */
  async run<T>(work: Work<T>, isLast: boolean): Promise<{ readonly result: T } | undefined> {
    try {
      const result = await work({
        collection: (model) => this.#collection(model as unknown as Model) as never,
      })
      this.#isOver = true
      return (await this.#write(isLast)) ? { result } : undefined
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
    if (this.#verification.isTorn) return false
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
  async #write(isLast: boolean): Promise<boolean> {
    await this.#last
    if (this.#verification.isTorn) return false
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
   * Throws the 409 of a unique value that is taken. Before the last run, false if nothing has it: it was given up meanwhile,
   * the set is another version's, or the database takes other values for equal.
   */
  async #refuseDuplicates(error: DuplicateKey, isLast: boolean): Promise<false> {
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
      const { stored } = this.#host.engine(model)
      const isTaken =
        'insert' in action && (isKnown ?? (await firstIn(stored, filter)) !== undefined)
      const taken = isTaken ? ['_id', ...fields] : fields
      if (taken.length > 0) throw duplicateIn(model, taken)
    }
    if (!isLast) return false
    const hidden = this.#taken.flatMap(({ engine }) => engine.model.hidden)
    throw duplicateIn({ hidden }, error.fields)
  }
}

function over(): Error {
  return new Error('the atomic step is over: await its calls')
}

/** What was read of one model. */
interface Seen {
  readonly engine: RecordEngine
  /** The records as they are stored, by id. */
  readonly records: Map<string, Fields>
  /** What no record matched. */
  readonly absent: Filter[]
}

class Verification {
  /** Whether a record was read twice, and was another one the second time. */
  isTorn = false
  readonly #recordsOf: (model: Model) => OverlaidRecords
  readonly #seen = new Map<Model, Seen>()

  constructor(recordsOf: (model: Model) => OverlaidRecords) {
    this.#recordsOf = recordsOf
  }

  /** Notes that `found` match `filter`, and if `isAll`, no others. What the step has written counts as it was before. */
  note(engine: RecordEngine, filter: Filter, found: readonly Fields[], isAll: boolean): void {
    const own = this.#recordsOf(engine.model)
    const { records, absent } = this.#seenOf(engine)
    const { bases, rest } = own.basesOf(filter)
    const stored = found.filter(({ _id }) => !own.hasWritten(String(_id)))
    for (const record of [...bases, ...stored]) {
      const id = String(record._id)
      const known = records.get(id)
      if (!known) records.set(id, record)
      else if (!isSameContent(known, record)) this.isTorn = true
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
    return [...guardsOf(absent, steps), ...present, ...absent, ...writes]
  }

  #seenOf(engine: RecordEngine): Seen {
    const { model } = engine
    const seen = this.#seen.get(model) ?? { engine, records: new Map(), absent: [] }
    this.#seen.set(model, seen)
    return seen
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

/** Steps that rely on what is absent in one model wait for each other: no write conflicts with an absence. */
function guardsOf(absent: readonly EngineStep[], steps: readonly EngineStep[]): EngineStep[] {
  if (absent.length === 0) return []
  const engines = new Map(
    [...absent, ...steps.filter(isWrite)].map(({ engine }) => [engine.model, engine]),
  )
  return [...engines.values()].map((engine) => {
    return { engine, action: { guard: `absent ${engine.schema.name}` } }
  })
}

/** Work beside requests: what jobs and consumers have alike. */

import type { Fail } from '../model/option-rules.ts'
import { insertOnce } from '../model/own-records.ts'
import { firstIn } from '../ports/evaluation/walk.ts'
import { withId } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { Collection } from '../ports/store/store.ts'
import type { BackgroundWork, WorkStatus } from '../records/engine/background-work.ts'
import type { Host } from '../records/engine/host.ts'
import { idOf, LEASE_MS, workSchema } from './lease.ts'
import { Loop, once, type Pace } from './loop.ts'

/** What is kept of work for whoever does it next. */
export interface Kept extends Fields {
  readonly owner: string
  readonly until: Date
}

/** Work that one process at a time does, again and again. `K` is what is kept of it. */
export abstract class LeasedWork<K extends Kept = Kept> implements BackgroundWork {
  readonly name: string
  protected readonly host: Host
  protected readonly records: Collection
  protected readonly id: string
  /** What it is called in the store and in the log. */
  readonly #title: string
  readonly #loop: Loop
  #isLooping = false
  /** The last sign of life of the one who has it, and when this process first saw it. */
  #seen: { readonly sign: number; readonly at: number } | undefined

  constructor(host: Host, kind: 'consumer' | 'job', name: string) {
    this.name = name
    this.host = host
    this.records = host.collection(workSchema)
    this.id = idOf(kind, name)
    this.#title = `${kind} ${name}`
    this.#loop = new Loop(host, this.#title, (pace) => this.step(pace))
  }

  async prepare(): Promise<void> {
    await this.begin(new Date(this.host.now()))
  }

  start(): void {
    this.#isLooping = true
    this.#loop.start()
  }

  close(waitMs?: number): Promise<void> {
    return this.#loop.close(waitMs)
  }

  async runDue(): Promise<void> {
    await this.step(once())
  }

  abstract status(): Promise<WorkStatus>

  /** Notes the work, should it be new. */
  protected abstract begin(now: Date): Promise<void>

  /** Does what is due, unless another process does; resolves to when to look again. */
  protected abstract step(pace: Pace): Promise<number>

  protected async note(first: Fields, now: Date): Promise<void> {
    // A database that takes no writes refuses also those that would change nothing.
    if (await firstIn(this.records, withId(this.id))) return
    const named = { _id: this.id, name: this.#title, owner: '', until: now }
    await insertOnce(this.records, { ...named, ...first })
  }

  protected async kept(): Promise<K> {
    const found = await firstIn(this.records, withId(this.id))
    if (!found) throw new Error(`what is known of the ${this.#title} was deleted`)
    return found as K
  }

  /** Whether a process has it: one that lives says so again and again, also if its clock is ahead or behind. */
  protected isRunning({ owner, until }: Kept): boolean {
    const sign = until.getTime()
    // Who looks once has only the clock to go by.
    if (owner === '' || (!this.#isLooping && sign <= this.host.now())) return false
    if (sign !== this.#seen?.sign) this.#seen = { sign, at: performance.now() }
    return performance.now() < this.#seen.at + LEASE_MS
  }
}

/** Adds a job or a consumer, which no other of the app may be named like. */
export function addWork(host: Host, work: BackgroundWork, kind: string, fail: Fail): void {
  const isSame = (one: BackgroundWork) =>
    one.name === work.name && one.constructor === work.constructor
  if (host.background.some(isSame)) fail(`there is a ${kind} of this name already`)
  host.background.push(work)
  // An app that has started prepares it too.
  host.onReady(() => {})
}

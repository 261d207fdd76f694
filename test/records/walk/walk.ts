/**
 * Walks by cursor while others write: whatever they do, every record that existed throughout comes exactly once.
 *
 * @module
 */

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, createApp, createRouter, type Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { type Answer, answerOf, recordedLog, request } from '../service.ts'
import { KEYS, type KeyValues, type Plan, plans, Step, type Write } from './plan.ts'

/** A store to be walked: how it is opened, and how many walks are made, times `FIELDGATE_RUNS`. */
export interface Walked {
  readonly open: () => Store | Promise<Store>
  readonly walks: number
}

/** What happened to a record, and between which moments it may have happened. */
interface Event {
  readonly id: string
  readonly kind: Write['kind']
  readonly began: number
  readonly ended: number
}

/** Where a walk is: the token, the record that it names, and the moment in which its page was asked for. */
interface Place {
  readonly cursor: string | undefined
  readonly anchor: string | undefined
  readonly asked: number
}

const GONE = 'The record this cursor points at no longer exists. Start the scan again.'

/** Registers the suite for the store named `name`. */
export function walks(name: string, { open, walks }: Walked): void {
  const numRuns = runs(walks)
  describe(`answers, Cursor mode: a full walk over ${name}`, () => {
    let app: App
    beforeAll(async () => {
      app = createApp({ store: await open(), logger: recordedLog(), env: {} })
      const router = createRouter({
        model: Step,
        pagination: 'cursor',
        query: ['walk', 'kind'],
        sortableFields: KEYS,
        allowedFields: [],
      })
      app.mount('/steps', router)
      await app.ready()
    })
    afterAll(() => app.close())

    test(`each record that existed throughout, exactly once, in ${numRuns} walks among concurrent writes`, async () => {
      const met = { records: 0, writes: 0, restarts: 0 }
      await fc.assert(
        fc.asyncProperty(plans, async (plan) => {
          const walk = new Walk(app, plan)
          await walk.fill()
          await walk.run()
          met.records += walk.expectOnce()
          met.writes += walk.events.length
          met.restarts += walk.restarts
        }),
        // The same each time: a few random walks may meet no restart.
        { seed: 1, numRuns, endOnFailure: true },
      )
      expect(met.records).toBeGreaterThan(numRuns)
      expect(met.writes).toBeGreaterThan(numRuns)
      expect(met.restarts).toBeGreaterThan(0)
    }, 300_000)
  })
}

/** One walk, with the history of what was written meanwhile. */
class Walk {
  readonly events: Event[] = []
  restarts = 0
  readonly #id: string = crypto.randomUUID()
  readonly #app: App
  readonly #plan: Plan
  /** The ids of the records, in the order of their creation. */
  readonly #ids: string[] = []
  /** Moments are counted, not measured. */
  #now = 0
  #began = 0
  #seen: string[] = []

  constructor(app: App, plan: Plan) {
    this.#app = app
    this.#plan = plan
  }

  /** Stores the records that the walk begins with. */
  async fill(): Promise<void> {
    for (const values of this.#plan.records) await this.#write({ kind: 'insert', values })
  }

  /** Reads page after page, from the start again where the anchor is gone or was moved. */
  async run(): Promise<void> {
    const turns = this.#plan.turns.values()
    let place: Place | undefined = this.#start()
    while (place) {
      const asked = this.#tick()
      const writes = turns.next().value ?? []
      const page = this.#page(place.cursor)
      await Promise.all([page, ...writes.map((write) => this.#write(write))])
      const answer: Answer = await page
      place = this.#isLost(place, answer) ? this.#start() : this.#next(answer, asked)
    }
  }

  /** Asserts the promise; gives how many records existed throughout. */
  expectOnce(): number {
    const end = this.#tick()
    const during = (kinds: readonly Write['kind'][]) =>
      this.events.filter(({ kind, began, ended }) => {
        return kinds.includes(kind) && ended > this.#began && began < end
      })
    const idsOf = (events: readonly Event[]) => new Set(events.map(({ id }) => id))
    const isGone = ({ kind, began }: Event) => kind === 'delete' && began < this.#began
    const unsettled = idsOf([
      ...during(['insert', 'delete', 'move']),
      ...this.events.filter(isGone),
    ])
    const throughout = this.#ids.filter((id) => !unsettled.has(id))
    const seen = this.#seen.filter((id) => !unsettled.has(id))
    expect(seen.toSorted()).toEqual(throughout.toSorted())
    const moved = idsOf(during(['move']))
    const unmoved = this.#seen.filter((id) => !moved.has(id))
    expect(new Set(unmoved).size).toBe(unmoved.length)
    return throughout.length
  }

  #start(): Place {
    this.#began = this.#tick()
    this.#seen = []
    return { cursor: undefined, anchor: undefined, asked: this.#began }
  }

  /** Whether the walk cannot go on. From an anchor that was moved it goes on elsewhere, as the contract says. */
  #isLost({ anchor, asked }: Place, { status, body }: Answer): boolean {
    if (status === 400) {
      expect(body.error).toBe(GONE)
      expect(this.#happened('delete', anchor, asked)).toBe(true)
    }
    const isLost = status === 400 || this.#happened('move', anchor, asked)
    this.restarts += Number(isLost)
    return isLost
  }

  #next(answer: Answer, asked: number): Place | undefined {
    expect(answer.status).toBe(200)
    this.#seen.push(...answer.records.map(({ _id }) => String(_id)))
    // Once for each insert and each move, or the walk goes in circles.
    expect(this.#seen.length).toBeLessThanOrEqual(this.events.length)
    const { nextCursor } = answer.body.pagination as { nextCursor: string | null }
    if (nextCursor === null) return undefined
    return { cursor: nextCursor, anchor: this.#seen.at(-1), asked }
  }

  /** A GET where it can ask this, else a QUERY. */
  async #page(cursor: string | undefined): Promise<Answer> {
    const { sort, pageSize } = this.#plan
    const filter = { walk: this.#id }
    const [only = ''] = sort
    const url = new URLSearchParams({ ...filter, sort: only, pageSize: String(pageSize) })
    if (cursor !== undefined) url.set('cursor', cursor)
    const asked =
      sort.length > 1
        ? request('QUERY', '/steps', { json: { filter, sort, pageSize, cursor } })
        : request('GET', `/steps?${url}`)
    return answerOf(await this.#app.handle(asked))
  }

  async #write(write: Write): Promise<void> {
    const steps = this.#app.store.collection(Step)
    const began = this.#tick()
    const note = (id: string) =>
      void this.events.push({ id, kind: write.kind, began, ended: this.#tick() })
    if (write.kind === 'insert') {
      const { _id } = await steps.insert({ ...given(write.values), walk: this.#id })
      this.#ids.push(_id)
      return note(_id)
    }
    const id = this.#ids[write.of % this.#ids.length] ?? ''
    if (write.kind === 'delete') await steps.delete(id)
    if (write.kind === 'touch') await steps.update(id, { note: `touched at ${began}` })
    if (write.kind === 'move') await steps.update(id, write.values)
    note(id)
  }

  #happened(kind: Write['kind'], id: string | undefined, since: number): boolean {
    return this.events.some((event) => {
      return event.kind === kind && event.id === id && event.ended > since
    })
  }

  #tick(): number {
    this.#now += 1
    return this.#now
  }
}

/** The values that are there. */
function given(values: KeyValues): KeyValues {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as unknown as KeyValues
}

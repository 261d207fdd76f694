/**
 * An app on a store that outlives it, whose calls to store, files, cache and mailer can fail, and what is stored by now.
 *
 * @module
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { AppOptions, Fields, Store } from '../../../src/index.ts'
import { type App, createApp } from '../../../src/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { Faults, type Kind } from './faults.ts'

/** An answer, read to its end. Status 0: none came, because the process is gone. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads what it expects, and fails where that is not there.
  readonly body: any
  readonly text: string
  readonly headers: Headers
}

export interface Request {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is. */
  readonly form?: () => BodyInit
}

/** What a place serves: `mount` puts the routers on a new app, with the faults of its process. */
export interface Served {
  readonly options?: (faults: Faults, place: Place) => Partial<AppOptions>
  mount(app: App, faults: Faults, place: Place): void
}

const START = Date.UTC(2030, 0, 1)
/** Calls that are held act or answer after this time. */
const LIMIT_MS = 60
/** More turns than a request that is alone takes from one call to the next; turns, as a busy machine gives this process few. */
const QUIET_TURNS = 12
const TURN_MS = 5

export class Place {
  time = START
  /** Where the log of changes was when it began. */
  from: string | undefined
  /** What outlives a process beside the store, such as a cache. */
  readonly kept = new Map<string, unknown>()
  faults = new Faults()
  /** What was sent: mails, events, calls of hooks. */
  readonly told: { readonly what: string; readonly details: Fields }[] = []
  readonly log: string[] = []
  app!: App
  readonly store: Store
  readonly #served: Served
  readonly #schemas = new Map<string, CollectionSchema>()
  readonly #apps: App[] = []

  readonly #newFaults: () => Faults
  /** Whether requests of the process have little time. */
  #isHurried = false

  constructor(store: Store, served: Served, newFaults = () => new Faults()) {
    this.store = store
    this.#served = served
    this.#newFaults = newFaults
  }

  /** A new process over the same store. */
  async start(kind?: Kind): Promise<void> {
    const faults = this.#newFaults()
    this.faults = faults
    const isHeld = kind === 'late' || kind === 'slow'
    this.#isHurried = isHeld
    const line = (message: string, details?: unknown) => {
      this.log.push(`${message} ${JSON.stringify(details)}`)
    }
    const app = createApp({
      store: faults.aroundStore(this.store, (schema) => this.#schemas.set(schema.name, schema)),
      logger: { debug: () => {}, info: line, warn: line, error: line },
      now: () => this.time,
      env: {},
      requestTimeoutMs: kind === 'stuck' ? 500 : isHeld ? LIMIT_MS : 20_000,
      ...this.#served.options?.(faults, this),
    })
    this.#apps.push(app)
    this.app = app
    this.#served.mount(app, faults, this)
    await app.ready()
    // Without models that have one, the log may not be there.
    this.from ??= await this.store.changes?.position().catch(() => undefined)
  }

  later(seconds: number): void {
    this.time += seconds * 1000
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    { token, headers: more, form }: Request = {},
  ): Promise<Answer> {
    const { faults, app } = this
    const headers: Record<string, string> = { ...more }
    if (body !== undefined) headers['content-type'] ??= 'application/json'
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    const sent = form ? form() : body !== undefined && JSON.stringify(body)
    const init = { method, headers, ...(sent && { body: sent }) }
    const background: Promise<unknown>[] = []
    const platform = {
      clientAddress: '192.0.2.1',
      waitUntil: (work: Promise<unknown>) => background.push(work),
    }
    const request = new globalThis.Request(`http://localhost${path}`, init)
    const none = faults.gone.then(() => undefined)
    const response = await Promise.race([app.handle(request, undefined, platform), none])
    if (!response) return { status: 0, body: undefined, text: '', headers: new Headers() }
    const text = await response.text()
    if (faults.isArmed) await this.#settled(this.#isHurried && response.status === 503)
    const ended = Promise.all(background)
    while (
      !(faults.isArmed && faults.isStuck) &&
      !(await Promise.race([ended.then(() => true), none.then(() => true), wait(5)]))
    ) {
      faults.release()
    }
    const known = text.startsWith('{') ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, body: known }
  }

  /**
   * Lets go of what was held, and waits until it has come to its end, although its client has an answer: also where the
   * request `isLate` without it, on a busy machine.
   */
  async #settled(isLate: boolean): Promise<void> {
    const { faults } = this
    for (let isDue = isLate; isDue || faults.isHeld; isDue = false) {
      faults.release()
      for (let before = -1; before < faults.calls.length; ) {
        before = faults.calls.length
        for (let turn = 0; turn < QUIET_TURNS; turn += 1) await aTurn()
      }
    }
  }

  post(path: string, body: unknown = {}, token?: string): Promise<Answer> {
    return this.ask('POST', path, body, { token })
  }

  /** The records of all collections. */
  async records(): Promise<ReadonlyMap<string, readonly Fields[]>> {
    const all = new Map<string, readonly Fields[]>()
    for (const [name, schema] of this.#schemas) {
      const found = await this.store
        .collection(schema)
        .find({ filter: everything, sort: [], limit: 1000 })
        // Some are made when they are first needed.
        .catch(() => [])
      all.set(name, found)
    }
    return all
  }

  /** What is stored, without what chance and the clock decide: the same texts for the same state. */
  async view(leftOut: readonly string[] = []): Promise<readonly string[]> {
    const lines: string[] = []
    for (const [name, records] of await this.records()) {
      if (leftOut.includes(name)) continue
      if (name.startsWith('fieldgate_decoys')) continue
      for (const record of records) lines.push(`${name} ${JSON.stringify(masked(record))}`)
    }
    return lines.sort()
  }

  /** Removes all records. */
  async clear(): Promise<void> {
    for (const schema of this.#schemas.values()) {
      const collection = this.store.collection(schema)
      while (await collection.delete(everything).catch(() => null));
    }
  }

  async close(): Promise<void> {
    const others = this.#apps.filter((app) => app !== this.app)
    await this.app.close()
    // One that is gone never ends.
    void Promise.all(others.map((app) => app.close())).catch(() => {})
    await this.store.close()
  }
}

/** This thread has its turn, and those that hash and sign for it have had theirs. */
async function aTurn(): Promise<void> {
  await Promise.all([wait(TURN_MS), crypto.subtle.digest('SHA-256', new Uint8Array(1))])
}

/** A value, in which texts and numbers that are made by chance or from the clock are alike. */
function masked(value: unknown): unknown {
  if (value instanceof Date) return '<date>'
  if (typeof value === 'number') return value > 1e5 ? '<number>' : value
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([key]) => !/^(?:verifyO|o)tp|^slot$|^knownTries$/.test(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, each]) => [key, masked(each)]))
  }
  if (typeof value !== 'string') return value
  if (/^cheap:\d+:/.test(value)) return value.replace(/\d+/, 'n')
  return value
    .replace(/[\w-]+\.png/, '<file>')
    .replace(/[0-9a-f]{24}|[\w-]{8}-[\w-]{4}-[\w-]{4}-[\w-]{4}-[\w-]{12}/g, '<id>')
    .replace(/[\w-]{20,}(?:[.~][\w-]+)*/g, '<text>')
    .replace(/^[\w-]{4,}\.[\w+/=-]{20,}$/, '<sealed>')
    .replace(/\d{5,}/g, '<digits>')
}

/**
 * Random records under random scopes: every route against a plain reading of the contract.
 *
 * @module
 */

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import {
  type ApiRequest,
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type RecordCollection,
  ref,
  type ScopeFilter,
  type Store,
} from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { type Answer, answerOf, recordedLog, request } from '../service.ts'

/** A store under test, and how many cases are tried on it, times `FIELDGATE_RUNS`. */
export interface Tried {
  readonly open: () => Store | Promise<Store>
  readonly cases: number
}

/** Values as JSON has them. A missing field and null are the same to a scope. */
type Values = Readonly<Record<string, unknown>>
/** What a scope returns: one of these must match, or with null there is no limit. */
type Alternatives = readonly Values[] | null

const DAYS = ['2024-01-01T00:00:00.000Z', '2025-06-30T12:00:00.000Z'] as const

const anyOwner = fc.constantFrom('ann', 'bob')
const anyTeam = fc.constantFrom('red', 'blue', null)
const anyDay = fc.constantFrom(...DAYS, null)
const anyTags = fc.subarray(['a', 'b'])
const stored = {
  owner: anyOwner,
  team: anyTeam,
  public: fc.boolean(),
  size: fc.constantFrom(1, 2),
  at: anyDay,
  tags: anyTags,
  // A list in it is a value, and its elements are none of the field.
  either: fc.constantFrom('a', 'b', ['a'], null),
}
/** Some of the fields, all of them values that the schema takes. */
const some = fc.record(stored, { requiredKeys: [] })
const limits = fc
  .record(
    { ...stored, tags: fc.constantFrom('a', 'b', null), either: fc.constantFrom('a', 'b', null) },
    { requiredKeys: [] },
  )
  .filter((values) => Object.keys(values).length > 0)
  // The more fields, the fewer records match.
  .map((values) => Object.fromEntries(Object.entries(values).slice(0, 2)))
const alternatives: fc.Arbitrary<Alternatives> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 5, arbitrary: fc.array(limits, { minLength: 1, maxLength: 3 }) },
)

const aCase = fc.record({
  records: fc.array(fc.record(stored), { minLength: 2, maxLength: 5 }),
  read: alternatives,
  write: alternatives,
  body: some,
  // What the validate hook sets on top, so that a record would enter or leave a scope.
  hook: fc.option(some, { nil: {} }),
  pick: fc.nat(4),
})
type Case = typeof aCase extends fc.Arbitrary<infer C> ? C : never

const TEXT = 'some text'

/** Registers the suite for the store named `name`. */
export function randomScopes(name: string, { open, cases }: Tried): void {
  const numRuns = runs(cases)
  describe.each(['one scope', 'a pair'] as const)(`next, scope: ${name}, %s`, (form) => {
    let world: World
    beforeAll(async () => {
      world = new World(await open(), `${name}${form === 'a pair' ? 'Pair' : 'One'}`, form)
      await world.app.ready()
    })
    afterAll(() => world.app.close())

    test(`every route does what the scopes say, in ${numRuns} cases`, async () => {
      const met: Record<string, number> = {}
      await fc.assert(
        fc.asyncProperty(aCase, async (one) => {
          const tried = form === 'a pair' ? one : { ...one, read: one.write }
          for (const outcome of await world.run(tried)) met[outcome] = (met[outcome] ?? 0) + 1
        }),
        // The same each time: a few random cases may meet no write that is refused.
        { seed: 1, numRuns, endOnFailure: true },
      )
      console.log(`${name}, ${form}: ${JSON.stringify(met)}`)
      for (const status of ['PATCH 200', 'PATCH 404', 'POST 201', 'POST 403']) {
        expect(met[status], status).toBeGreaterThan(0)
      }
    }, 300_000)
  })
}

/** An app with a scoped router, and another that refers to its records. */
class World {
  readonly app: App
  readonly thing: Model
  readonly use: Model

  constructor(store: Store, name: string, form: 'one scope' | 'a pair') {
    const { Thing, Use } = models(name.replace(/\W/g, ''))
    this.thing = Thing as unknown as Model
    this.use = Use as unknown as Model
    this.app = createApp({ store, logger: recordedLog(), env: {}, cache: memoryCache() })
    const read = (asked: ApiRequest) => told(asked, 'x-read')
    const write = (asked: ApiRequest) => told(asked, 'x-write')
    // If the cache did not know the scopes, everyone would get the same.
    const cache = { vary: () => 'everyone' }
    const shared = { middlewares: [], query: ['run'], cache } as const
    this.app.mount(
      '/things',
      createRouter({
        ...shared,
        model: Thing,
        allowedFields: ['owner', 'team', 'public', 'size', 'at', 'tags', 'either', 'text', 'run'],
        validate: (payload: Fields, { req }: { req: ApiRequest }) => ({
          ...payload,
          ...JSON.parse(headerOf(req, 'x-hook')),
        }),
        scope: form === 'a pair' ? { read, write } : write,
      } as never),
    )
    this.app.mount(
      '/uses',
      createRouter({
        ...shared,
        model: Use,
        search: ['thing.text'],
        allowedFields: [],
        onGet: () => ({ populate: 'thing' }),
      } as never),
    )
  }

  /** Tries one case on records of its own; resolves to what became of the writes. */
  async run(one: Case): Promise<readonly string[]> {
    const { app, thing, use } = this
    const attempt = new Attempt(
      app,
      { things: app.store.collection(thing), uses: app.store.collection(use) },
      one,
    )
    await attempt.fill()
    await attempt.expectReads()
    for (const step of [attempt.patch, attempt.post, attempt.remove]) {
      await step.call(attempt)
      await attempt.expectReads()
    }
    return attempt.outcomes
  }
}

interface Collections {
  readonly things: RecordCollection<Fields>
  readonly uses: RecordCollection<Fields>
}

/** One case, and what must be stored. */
class Attempt {
  readonly outcomes: string[] = []
  readonly #run: string = crypto.randomUUID()
  readonly #there = new Map<string, Values>()
  readonly #app: App
  readonly #stored: Collections
  readonly #case: Case
  /** What a client may send of the body: never the fields that the scope of writes names. */
  readonly #sent: Values

  constructor(app: App, stored: Collections, one: Case) {
    this.#app = app
    this.#stored = stored
    this.#case = one
    const closed = new Set((one.write ?? []).flatMap(Object.keys))
    this.#sent = Object.fromEntries(
      Object.entries(one.body).filter(([field]) => !closed.has(field)),
    )
  }

  async fill(): Promise<void> {
    for (const values of this.#case.records) {
      const at = values.at === null ? null : new Date(values.at)
      const { _id } = await this.#stored.things.insert({
        ...values,
        at,
        text: TEXT,
        run: this.#run,
      })
      await this.#made(_id, { ...values, text: TEXT, run: this.#run })
    }
  }

  /** Every way to see records shows what the scope of reads admits. */
  async expectReads(): Promise<void> {
    const run = this.#run
    const visible = [...this.#there.keys()].filter((id) => this.#isVisible(id))
    const expected = visible.map((id) => this.#shown(id))
    const list = await this.#send('GET', `/things?run=${run}`)
    expect(list.records.map(solid)).toEqual(expect.arrayContaining(expected))
    expect(list.records).toHaveLength(expected.length)
    const asked = await this.#send('QUERY', '/things', { filter: { run }, page: 1 })
    expect(idsOf(asked)).toEqual(idsOf(list))
    expect(asked.body.pagination).toMatchObject({ totalRecords: expected.length })
    for (const id of this.#there.keys()) {
      const one = await this.#send('GET', `/things/${id}`)
      expect(one.status).toBe(visible.includes(id) ? 200 : 404)
      if (one.status === 200) expect(solid(one.record)).toEqual(this.#shown(id))
    }
    const referring = await this.#send('GET', `/uses?run=${run}`)
    const filled = referring.records.flatMap(({ thing }) => (thing ? [solid(thing as Fields)] : []))
    expect(filled).toEqual(expect.arrayContaining(expected))
    expect(filled).toHaveLength(expected.length)
    const found = await this.#send('GET', `/uses?run=${run}&s=${TEXT}`)
    expect(found.records).toHaveLength(expected.length)
  }

  async patch(): Promise<void> {
    const { write, body, hook } = this.#case
    const [id, before] = this.#picked()
    const after = { ...before, ...this.#sent, ...hook }
    const answer = await this.#tried('PATCH', `/things/${id}`, body)
    if (Object.keys(this.#sent).length === 0) expect(answer.status).toBe(400)
    else if (!admits(write, before)) expect(answer.status).toBe(404)
    else if (!admits(write, after)) expect(answer.status).toBe(403)
    else {
      expect(answer.status, answer.text).toBe(200)
      this.#there.set(id, after)
      this.#expectShown(answer, id)
    }
  }

  async post(): Promise<void> {
    const { write, body, hook } = this.#case
    const own = { text: TEXT, run: this.#run }
    const values = { ...this.#sent, ...hook, ...common(write), ...own }
    const answer = await this.#tried('POST', '/things', { ...body, ...own })
    if (!admits(write, values)) return expect(answer.status).toBe(403)
    expect(answer.status, answer.text).toBe(201)
    const id = String(answer.record._id)
    await this.#made(id, values)
    this.#expectShown(answer, id)
  }

  async remove(): Promise<void> {
    const [id, values] = this.#picked()
    const { status } = await this.#tried('DELETE', `/things/${id}`)
    expect(status).toBe(admits(this.#case.write, values) ? 200 : 404)
    if (status === 200) this.#there.delete(id)
    expect(await this.#stored.things.count({ run: this.#run })).toBe(this.#there.size)
  }

  async #made(id: string, values: Values): Promise<void> {
    this.#there.set(id, values)
    await this.#stored.uses.insert({ thing: id, run: this.#run })
  }

  #picked(): readonly [string, Values] {
    const entries = [...this.#there]
    return entries[this.#case.pick % entries.length] ?? ['', {}]
  }

  #isVisible(id: string): boolean {
    return admits(this.#case.read, this.#there.get(id) ?? {})
  }

  #shown(id: string): Values {
    return { _id: id, ...solid(this.#there.get(id) ?? {}) }
  }

  #expectShown({ record }: Answer, id: string): void {
    if (this.#isVisible(id)) expect(solid(record)).toEqual(this.#shown(id))
    else expect(record).toEqual({ _id: id })
  }

  async #tried(method: string, path: string, json?: unknown): Promise<Answer> {
    const answer = await this.#send(method, path, json)
    this.outcomes.push(`${method} ${answer.status}`)
    return answer
  }

  async #send(method: string, path: string, json?: unknown): Promise<Answer> {
    const { read, write, hook } = this.#case
    const headers = {
      'x-read': JSON.stringify(read),
      'x-write': JSON.stringify(write),
      'x-hook': JSON.stringify(hook),
    }
    const asked = request(method, path, { headers, ...(json !== undefined && { json }) })
    return answerOf(await this.#app.handle(asked))
  }
}

/** Models with names of their own: several stores are tried in one process. */
function models(name: string) {
  const Thing = defineModel(`Scoped${name}Thing`, {
    fields: {
      owner: z.string().optional(),
      team: z.string().nullish(),
      public: z.boolean().optional(),
      size: z.int().optional(),
      at: z.date().nullish(),
      tags: z.array(z.string()).optional(),
      either: z.union([z.string(), z.array(z.string())]).nullish(),
      text: z.string(),
      run: z.string(),
    },
    indexes: ['run'],
  })
  const Use = defineModel(`Scoped${name}Use`, {
    fields: { thing: ref(Thing.name), run: z.string() },
    indexes: ['run'],
  })
  return { Thing, Use }
}

function headerOf({ headers }: ApiRequest, name: string): string {
  return headers.get(name) ?? ''
}

/** What the router's scope returns: a single alternative also without `or`. */
function told(asked: ApiRequest, name: string): ScopeFilter {
  const wanted: Alternatives = JSON.parse(headerOf(asked, name))
  if (wanted === null) return undefined
  const [only = {}, ...others] = wanted
  return (others.length === 0 ? only : { or: wanted }) as ScopeFilter
}

/** Whether a record matches one of the alternatives. */
function admits(wanted: Alternatives, record: Values): boolean {
  if (wanted === null) return true
  return wanted.some((values) =>
    Object.entries(values).every(([field, value]) => matches(field, record[field] ?? null, value)),
  )
}

function matches(field: string, held: unknown, value: unknown): boolean {
  return field === 'tags' && Array.isArray(held) ? held.includes(value) : held === value
}

/** The values that all alternatives share. */
function common(wanted: Alternatives): Values {
  const [first = {}, ...others] = wanted ?? []
  const shared = Object.entries(first).filter(([field, value]) =>
    others.every((other) => Object.hasOwn(other, field) && other[field] === value),
  )
  return Object.fromEntries(
    shared.map(([field, value]) => [field, field === 'tags' && value !== null ? [value] : value]),
  )
}

/** A record without what is null, which is the same as missing here. */
function solid(record: Values): Values {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}

function idsOf({ records }: Answer): readonly unknown[] {
  return records.map(({ _id }) => _id)
}

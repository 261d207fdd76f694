/**
 * Random writes under random rules: what each stream tells of each write is compared with what the rules say.
 *
 * @module
 */

import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'
import { Random } from '../../../extras/contract/store/random.ts'
import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { type LiveEvent, Reading } from './stream.ts'

const Note = defineModel('RandomNote', {
  fields: {
    title: z.string(),
    team: z.string(),
    done: z.boolean(),
    rank: z.number(),
    text: z.string().optional(),
    secret: z.string(),
  },
  hidden: ['secret'],
  indexes: ['done'],
  changes: true,
})
const NAMES = ['title', 'team', 'done', 'rank', 'text'] as const
type Name = (typeof NAMES)[number]
type Condition = Readonly<Partial<Record<Name, string | number | boolean>>>

/** What a reader may see, and asks for. */
interface Rules {
  readonly scope: Condition | { readonly or: readonly Condition[] } | undefined
  readonly fields: readonly Name[]
  readonly select: readonly Name[] | undefined
  readonly done: boolean | undefined
  readonly search: string | undefined
}

/** What came of random writes. */
export interface Judged {
  /** Each write is an event for each stream. */
  readonly events: number
  /** How many of them were told. */
  readonly told: number
  readonly cuts: number
  readonly faults: readonly string[]
}

const STREAMS = 16
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** So many random writes, under rules of the seed. */
export async function randomRules(seed: number, writes: number): Promise<Judged> {
  const random = new Random(seed)
  const rules = Array.from({ length: STREAMS }, () => rulesOf(random))
  const app = createApp({ store: sqliteStore(), logger: quiet, env: {} })
  const ruleOf = (request: Request) => rules[Number(request.headers.get('x-reader'))] as Rules
  app.mount(
    '/notes',
    createRouter({
      ...{ model: Note, middlewares: [], query: ['done'], search: ['title'], live: true },
      scope: (request) => ruleOf(request).scope as never,
      fieldsFor: (request) => [...ruleOf(request).fields],
      onGet: (request) => {
        const { select } = ruleOf(request)
        return select ? { select: [...select] } : {}
      },
      maxLimit: 100_000,
    }),
  )
  await app.ready()
  const streams = rules.map((_, at) => new Stream(app, at, rules[at] as Rules))
  for (const stream of streams) await stream.open()
  const { changes } = hostOf(app.store)
  const from = await changes?.position()
  const notes = app.store.collection(Note)
  const ids: string[] = []
  let cuts = 0
  for (let at = 0; at < writes; at += 1) {
    await write(notes, ids, random)
    if (!random.chance(1)) continue
    cuts += 1
    await streams[random.below(STREAMS)]?.reopen()
  }
  const log: LoggedChange[] = []
  for (let position = from; ; ) {
    const read = await changes?.read(position, { limit: 1000 })
    if (!read || 'gone' in read || read.changes.length === 0) break
    log.push(...read.changes)
    position = read.position
  }
  const faults: string[] = []
  for (const stream of streams) faults.push(...(await stream.faults(log)))
  const told = streams.reduce((sum, { told }) => sum + told.length, 0)
  await app.close()
  const named = faults.map((fault) => `seed ${seed}: ${fault}`)
  return { events: log.length * STREAMS, told, cuts, faults: named }
}

function rulesOf(random: Random): Rules {
  const condition = (): Condition =>
    random.of<Condition>([
      { team: random.of(['a', 'b']) },
      { done: random.chance(50) },
      { rank: random.below(3) },
      { team: random.of(['a', 'b']), done: random.chance(50) },
    ])
  const scope = random.of([undefined, condition(), { or: [condition(), condition()] }])
  const fields = NAMES.filter(() => random.chance(60))
  const select = random.chance(30) ? NAMES.filter(() => random.chance(60)) : undefined
  const done = fields.includes('done') && random.chance(40) ? random.chance(50) : undefined
  const search = fields.includes('title') && random.chance(30) ? random.of(['1', '2']) : undefined
  return { scope, fields, select: select?.length === 0 ? undefined : select, done, search }
}

type Notes = ReturnType<ReturnType<typeof createApp>['store']['collection']>

async function write(notes: Notes, ids: string[], random: Random): Promise<void> {
  const values = () => ({
    ...{ title: `note ${random.below(30)}`, team: random.of(['a', 'b', 'c']) },
    ...{ done: random.chance(50), rank: random.below(3), text: `text ${random.below(3)}` },
    secret: `secret ${random.below(9)}`,
  })
  const at = random.below(Math.max(20, ids.length + 2))
  const id = ids[at]
  if (id === undefined) {
    const { text, ...rest } = values()
    ids.push((await notes.insert(random.chance(50) ? rest : { ...rest, text }))._id)
  } else if (random.chance(15)) await notes.delete(ids.splice(at, 1)[0] as string)
  else {
    const changed = Object.entries(values()).filter(() => random.chance(30))
    await notes.update(id, Object.fromEntries(changed))
  }
}

/** How long an event may be on its way. */
const PATIENCE_MS = 60_000

/** A reader that follows its list. */
class Stream {
  readonly told: LiveEvent[] = []
  readonly #app: ReturnType<typeof createApp>
  readonly #reader: number
  readonly #rules: Rules
  readonly #lists: LiveEvent[] = []
  #reading: Reading | undefined
  #last: string | undefined
  #ring = Promise.withResolvers<void>()

  constructor(app: ReturnType<typeof createApp>, reader: number, rules: Rules) {
    this.#app = app
    this.#reader = reader
    this.#rules = rules
  }

  async open(): Promise<void> {
    const { done, search } = this.#rules
    const query = new URLSearchParams({
      ...(done !== undefined && { done: String(done) }),
      ...(search !== undefined && { s: search }),
    })
    const headers = {
      ...{ accept: 'text/event-stream', 'x-reader': String(this.#reader) },
      ...(this.#last !== undefined && { 'last-event-id': this.#last }),
    }
    const request = new Request(`http://localhost/notes?${query}`, { headers })
    const response = await this.#app.handle(request)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    const reading = new Reading(response)
    this.#reading = reading
    void this.#read(reading)
  }

  async #read(reading: Reading): Promise<void> {
    for (let next = await reading.next(); next; next = await reading.next()) {
      if (reading !== this.#reading) return
      this.#last = next.id
      if (next.event === 'records') this.#lists.push(next)
      else this.told.push(next)
      this.#ring.resolve()
    }
  }

  /** Cuts the connection, and goes on after what has arrived. */
  async reopen(): Promise<void> {
    const cut = this.#reading
    this.#reading = undefined
    await cut?.cancel()
    await this.open()
  }

  /** What it was told that its rules don't say, and what it wasn't. */
  async faults(log: readonly LoggedChange[]): Promise<string[]> {
    const expected = log.flatMap((change) => this.#expected(change))
    const end = performance.now() + PATIENCE_MS
    while (this.told.length < expected.length && performance.now() < end) {
      await Promise.race([this.#ring.promise, new Promise((resolve) => setTimeout(resolve, 100))])
      this.#ring = Promise.withResolvers()
    }
    await this.#reading?.cancel()
    // A list that came later than the first one stands for what was written before it.
    const told = new Map(this.told.map((one) => [positionIn(one), one]))
    const wrong = expected.filter((one) => {
      const found = told.get(one.id ?? '')
      return !(found && isSameContent([found.event, found.data], [one.event, one.data]))
    })
    const known = new Set(expected.map(({ id }) => id))
    const more = this.told.filter((one) => !known.has(positionIn(one)))
    const keys = new Set(['_id', ...this.#shownNames()])
    const listed = this.#lists.flatMap(({ data }) => (data as { data: Fields[] }).data)
    const open = listed.filter((one) => Object.keys(one).some((name) => !keys.has(name)))
    return [
      ...wrong.map((one) => `not told as ${JSON.stringify(one)}`),
      ...more.map((one) => `told ${JSON.stringify(one)}`),
      ...open.map((one) => `listed ${JSON.stringify(one)}`),
      ...(this.told.length > told.size ? [`${this.told.length - told.size} told twice`] : []),
    ]
  }

  #shownNames(): readonly Name[] {
    const { fields, select } = this.#rules
    return fields.filter((name) => !select || select.includes(name))
  }

  /** What the rules say of a change: an independent reading of them. */
  #expected({ id, before, after }: LoggedChange): LiveEvent[] {
    const [was, is] = [this.#shown(before), this.#shown(after)]
    if (is) return isSameContent(was, is) ? [] : [{ id, event: 'set', data: { data: is } }]
    return was ? [{ id, event: 'unset', data: { data: { _id: String(was._id) } } }] : []
  }

  #shown(record: Fields | null): Fields | undefined {
    if (!record) return undefined
    const { scope, done, search } = this.#rules
    const holds = (condition: object) =>
      Object.entries(condition).every(([name, value]) => record[name] === value)
    const inScope = !scope || ('or' in scope ? scope.or?.some(holds) : holds(scope))
    const isAsked =
      (done === undefined || record.done === done) && String(record.title).includes(search ?? '')
    if (!(inScope && isAsked)) return undefined
    const names = this.#shownNames().filter((name) => record[name] !== undefined)
    const shown = names.map((name) => [name, record[name]] as const)
    return { _id: String(record._id), ...Object.fromEntries(shown) }
  }
}

/** The position in an event's id. */
function positionIn({ id }: LiveEvent): string {
  return `${id}`.split('.')[0] ?? ''
}

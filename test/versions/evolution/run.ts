/**
 * Random versions of an app on one database, with writes between and beside them: after each step every door of every
 * version that runs shows what a plain map of records says.
 *
 * @module
 */

import { memoryCache } from '../../../adapters/caches/memory.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import type { Fields, Store } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { type BackfillTarget, backfillRecords } from '../../../src/upkeep/changes/backfill.ts'
import { follow, isEqual, type Running, same, send, serve } from './apps.ts'
import { checkDoors } from './doors.ts'
import {
  type Field,
  firstVersion,
  type How,
  nextVersion,
  type Version,
  valueFor,
} from './version.ts'
import {
  type Doc,
  filled,
  isObject,
  problemsOf,
  renamedDoc,
  shownDoc,
  TIMES,
  upgradedDoc,
} from './world.ts'

const NOON = Date.UTC(2024, 2, 1, 12)

type Door = 'route' | 'store' | 'batch'

/** One run. */
export class Evolution {
  readonly random: Random
  readonly trace: string[] = []
  readonly counts: Record<string, number> = {}
  readonly #open: () => Store
  readonly how: How
  readonly docs = new Map<string, Doc>()
  /** What the log has of each: what was written, without what backfills make of it. */
  readonly logged = new Map<string, Doc>()
  /** What was stored under a name that a backfill has moved; the log does not know that. */
  readonly moved = new Set<string>()
  readonly gone: string[] = []
  readonly #cache = memoryCache()
  #running: Running[] = []
  /** The one that was started last, which may have been stopped since. */
  #last: Running | undefined
  #newest: Version
  #past: Version[] = []
  /** What is unique now, whichever version declares it; and what perhaps is. */
  #unique = new Set<string>()
  #maybe = new Set<string>()
  #now = NOON

  constructor(seed: number, open: () => Store, how: How) {
    this.random = new Random(seed * 7919)
    this.#open = open
    this.how = how
    this.#newest = firstVersion(this.random)
  }

  async run(steps: number): Promise<void> {
    try {
      await this.#start(this.#newest)
      await this.#checkAll()
      for (let at = 0; at < steps; at += 1) {
        await this.#step()
        await this.#checkAll()
      }
    } finally {
      for (const { app } of this.#running) await app.close()
    }
  }

  #note(what: string, more: unknown = ''): void {
    this.trace.push(`${what} ${typeof more === 'string' ? more : JSON.stringify(more)}`)
    const [kind = ''] = what.split(' ')
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
  }

  async #step(): Promise<void> {
    const { random } = this
    if (this.#running.length === 0) return void (await this.#start(this.#newest))
    const chance = random.below(100)
    if (chance < 62) return this.#write(random.of(this.#running as [Running]))
    if (chance < 80) return this.#evolve()
    if (chance < 86) return this.#stop(random.of(this.#running as [Running]))
    if (chance < 92) {
      const back = random.of([...this.#past, this.#newest] as [Version])
      if (!this.#running.some(({ version }) => version === back)) await this.#start(back)
      return
    }
    return this.#backfill(this.#newest)
  }

  async #stop(one: Running): Promise<void> {
    this.#note('stop', `v${this.#indexOf(one.version)}`)
    this.#running = this.#running.filter((other) => other !== one)
    await one.app.close()
  }

  readonly #versions: Version[] = []
  #indexOf(version: Version): number {
    if (!this.#versions.includes(version)) this.#versions.push(version)
    return this.#versions.indexOf(version)
  }

  async #evolve(): Promise<void> {
    const next = nextVersion(this.random, this.#newest, this.how)
    if (next === this.#newest) return
    const before = this.#newest
    if (await this.#start(next)) {
      this.#past.push(before)
      this.#newest = next
    }
  }

  /** Starts a version; whether it does. */
  async #start(version: Version): Promise<boolean> {
    const one = serve(version, this.#open(), { cache: this.#cache, now: () => this.#now })
    this.#note(`start ${this.#label(one)}`, version)
    const keys = new Set(version.unique.flat())
    const moved = Object.entries(version.renamed).filter(([, now]) => keys.has(now))
    const docs = [...this.docs.values()]
    const holds = docs.some((doc) => moved.some(([old]) => doc[old] !== undefined))
    const clashes = version.unique.some((set) => this.#hasDuplicates(set))
    const sets = version.unique.map((set) => set.join())
    const error = await one.app.ready().catch((reason: Error) => reason)
    if (error) {
      await one.app.close()
      this.#note(`refused ${this.#label(one)}`, String(error))
      for (const set of sets) if (!this.#unique.has(set)) this.#maybe.add(set)
      return this.#afterRefusal(version, error, { holds, clashes })
    }
    same([holds, clashes], [false, false], 'a start that should be refused')
    for (const set of sets) {
      this.#unique.add(set)
      this.#maybe.delete(set)
    }
    // As the manual says: earlier versions do not see what is unique under the new name.
    const others = moved.length > 0 ? this.#running : []
    for (const other of others) await this.#stop(other)
    this.#running.push(one)
    await follow(one, this.random.chance(60) ? this.#last : undefined)
    this.#last = one
    return true
  }

  /** What an operator does then. */
  async #afterRefusal(
    version: Version,
    error: Error,
    { holds, clashes }: { readonly holds: boolean; readonly clashes: boolean },
  ): Promise<boolean> {
    if (error.name === 'IndexConflict' && clashes) return false
    if (!holds || !error.message.includes('still hold')) throw error
    await this.#backfill(version)
    return this.#start(version)
  }

  #hasDuplicates(set: readonly string[]): boolean {
    const seen = new Set<string>()
    for (const doc of this.docs.values()) {
      const values = set.map((name) => doc[name])
      if (values.some((value) => value === undefined)) continue
      const text = JSON.stringify(values)
      if (seen.has(text)) return true
      seen.add(text)
    }
    return false
  }

  /** The sets that a record would have in common with another one. */
  #clashes(id: string | undefined, doc: Doc, sets: Iterable<string>): boolean {
    return [...sets].some((set) => {
      const names = set.split(',')
      if (names.some((name) => doc[name] === undefined)) return false
      return [...this.docs].some(
        ([other, held]) => other !== id && names.every((name) => held[name] === doc[name]),
      )
    })
  }

  async #backfill(version: Version): Promise<void> {
    for (const other of this.#running) await this.#stop(other)
    const one = serve(version, this.#open(), { cache: this.#cache, now: () => this.#now })
    const isCut = this.random.chance(30)
    this.#note('backfill', `v${this.#indexOf(version)} ${isCut ? 'cut' : ''}`)
    const { stored, history, database, schemas } = hostOf(one.app.store)
    try {
      await database.prepare(schemas())
    } catch (error) {
      await one.app.close()
      this.#note('unprepared', String(error))
      for (const set of version.unique) this.#maybe.add(set.join())
      if (version.unique.some((set) => this.#hasDuplicates(set))) return
      throw error
    }
    const after = new Map(
      [...this.docs].map(([id, doc]) => [id, this.#backfilled(version, id, doc)]),
    )
    const sets = version.unique.map((set) => set.join())
    const target = { models: [one.model], stored, history, database, schemas }
    if (isCut) await cutBackfill(target, this.random.below(this.docs.size + 1))
    const result = await backfillRecords(target)
    const misfits = [...this.docs].flatMap(([id]) => problemsOf(version, after.get(id) ?? {}))
    const isClean = misfits.every((one) => one.startsWith('undeclared'))
    this.#note('backfilled', JSON.stringify(result))
    // What a rule refuses stays; who clashes with whom depends on the order.
    if (result.problems.some(({ problem }) => problem === 'duplicate')) throw new Stopped()
    same(result.ok, isClean, `backfill, ${misfits}`)
    for (const name of Object.keys(version.renamed)) this.moved.add(name)
    for (const [id, doc] of after) {
      this.docs.set(id, doc)
      this.logged.set(id, renamedDoc(version, this.logged.get(id) ?? {}))
    }
    this.#unique = new Set(sets)
    this.#maybe = new Set()
    // No live list is told of it.
    this.#last = undefined
    await one.app.close()
  }

  #backfilled(version: Version, id: string, doc: Doc): Doc {
    const now: Record<string, unknown> = { ...upgradedDoc(version, doc) }
    if (version.timestamps) {
      const made = new Date(Number.parseInt(id.slice(0, 8), 16) * 1000).toISOString()
      now.createdAt ??= made
      now.updatedAt ??= now.createdAt
    }
    return now
  }

  async #write(one: Running): Promise<void> {
    const { random } = this
    this.#now += 1000
    const ids = [...this.docs.keys()]
    const chance = random.below(100)
    if (ids.length === 0 || (chance < 35 && ids.length < 9)) return this.#create(one)
    const id = random.of(ids as [string])
    if (chance < 75) return this.#patch(one, id, random.of(['route', 'route', 'store', 'batch']))
    if (chance < 85) return this.#remove(one, id)
    return this.#patch(one, id, 'route')
  }

  #label(one: Running): string {
    return `v${this.#indexOf(one.version)}`
  }

  async #create(one: Running): Promise<void> {
    const { random } = this
    const { version } = one
    const body: Record<string, unknown> = {}
    const doc: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(version.fields)) {
      if (field.presence === 'required' || random.chance(60)) {
        body[name] = valueFor(random, field)
        doc[name] = filled(field, body[name])
      }
    }
    if (Object.keys(body).length === 0) return
    Object.assign(doc, upgradedDoc({ ...version, renamed: {} }, doc))
    if (version.timestamps) for (const name of TIMES) doc[name] = new Date(this.#now).toISOString()
    const { status, data } = await send(one.app, 'POST', '/things', body)
    this.#note(`POST ${this.#label(one)} ${status}`, [body, data])
    if (this.#isRefused(status, undefined, doc)) return
    if (status !== 201) throw new Error(`POST: ${status} ${JSON.stringify([body, data])}`)
    const { _id, ...rest } = data as Fields
    this.#put(String(_id), doc)
    same(rest, shownDoc(version, doc), 'POST')
  }

  /** Whether a write was rightly refused for what is unique. */
  #isRefused(status: number, id: string | undefined, doc: Doc): boolean {
    const must = this.#clashes(id, doc, this.#unique)
    const may = must || this.#clashes(id, doc, this.#maybe)
    if (must && status !== 409) throw new Error(`${status}, where a value is taken`)
    if (status === 409 && !may) throw new Error('409, where no value is taken')
    return status === 409
  }

  async #patch(one: Running, id: string, door: Door): Promise<void> {
    const { version } = one
    const before = this.docs.get(id) as Doc
    const settled = renamedDoc(version, before)
    const { body, doc } = this.#changes(version, settled, door)
    const isChanged = Object.keys(body).some((name) => !isEqual(doc[name], settled[name]))
    if (!isChanged) return
    if (version.timestamps) doc.updatedAt = new Date(this.#now).toISOString()
    const { status, data } = await this.#change(one, id, body, door)
    this.#note(`PATCH ${this.#label(one)} ${door} ${status}`, [id, body, data, before])
    if (this.#isRefused(status, id, doc)) {
      // A record moves to the names of now before it is written.
      if (door !== 'batch') this.#put(id, settled)
      return
    }
    if (status !== 200) throw new Error(`PATCH: ${status} ${JSON.stringify([body, data])}`)
    this.#put(id, doc)
    const { _id, ...rest } = data as Fields
    if (door !== 'store') same(rest, shownDoc(version, doc), `PATCH ${door}`)
  }

  /** A change of some fields, and the record after it. */
  #changes(version: Version, settled: Doc, door: Door) {
    const { random } = this
    const doc: Record<string, unknown> = { ...settled }
    const body: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(version.fields)) {
      if (!random.chance(35) || (door === 'store' && /obj|date/.test(field.kind))) continue
      const isCleared = field.presence === 'optional' && random.chance(25)
      body[name] = isCleared ? null : valueFor(random, field)
      if (isCleared) delete doc[name]
      else doc[name] = written(field, body[name], settled[name])
    }
    return { body, doc }
  }

  async #change({ app, model }: Running, id: string, body: Fields, door: Door) {
    if (door === 'route') return send(app, 'PATCH', `/things/${id}`, body)
    if (door === 'store') {
      const change = Object.fromEntries(
        Object.entries(body).map(([name, value]) => [name, value ?? undefined]),
      )
      try {
        return { status: 200, data: await app.store.collection(model).update(id, change as never) }
      } catch (error) {
        return { status: (error as { status?: number }).status ?? 500, data: String(error) }
      }
    }
    const operations = [{ method: 'PATCH', path: `/things/${id}`, body }]
    const { status, data } = await send(app, 'POST', '/batch', { operations })
    const [first] = Array.isArray(data)
      ? (data as { status: number; body: { data: Fields } }[])
      : []
    return first ? { status: first.status, data: first.body.data } : { status, data }
  }

  async #remove(one: Running, id: string): Promise<void> {
    const { status } = await send(one.app, 'DELETE', `/things/${id}`)
    this.#note(`DELETE ${this.#label(one)} ${status}`, id)
    if (status !== 200) throw new Error(`DELETE: ${status}`)
    this.docs.delete(id)
    this.gone.push(id)
  }

  #put(id: string, doc: Doc): void {
    const before = this.docs.get(id) ?? {}
    const logged: Record<string, unknown> = { ...this.logged.get(id) }
    for (const name of Object.keys({ ...before, ...doc })) {
      if (!isEqual(before[name], doc[name])) logged[name] = doc[name]
    }
    this.docs.set(id, doc)
    this.logged.set(id, logged)
  }

  async #checkAll(): Promise<void> {
    for (const one of this.#running) {
      try {
        await checkDoors(one, this)
      } catch (error) {
        if (error instanceof Error) error.message = `${this.#label(one)}: ${error.message}`
        throw error
      }
    }
  }
}

/** What is stored of a value that is sent: members that the version does not declare stay, unless it converts them. */
function written(field: Field, value: unknown, held: unknown): unknown {
  if (field.kind !== 'obj') return value
  if (field.convert) return filled(field, value)
  const kept = isObject(held) ? Object.entries(held) : []
  const others = kept.filter(([name]) => !field.parts.includes(name))
  return { ...(filled(field, value) as object), ...Object.fromEntries(others) }
}

/** A backfill that ends after so many writes. */
async function cutBackfill(target: BackfillTarget, writes: number): Promise<void> {
  let left = writes
  const stored: typeof target.stored = (model) => {
    const inner = target.stored(model)
    return {
      ...inner,
      update: (...given) => {
        left -= 1
        if (left < 0) throw new Error('cut')
        return inner.update(...given)
      },
    }
  }
  await backfillRecords({ ...target, stored }).catch((error: Error) => {
    if (error.message !== 'cut') throw error
  })
}

/** A run that cannot go on, without a fault. */
export class Stopped extends Error {}

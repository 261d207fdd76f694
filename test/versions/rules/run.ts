/**
 * Random versions of two models on one database, beside and after each other: each write is taken or refused as the rules of
 * the version say by which it is sent, and every version shows what is stored.
 *
 * @module
 */

import { Random } from '../../../extras/contract/store/random.ts'
import type { Fields, Store } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { backfillRecords } from '../../../src/upkeep/changes/backfill.ts'
import { checkRecords } from '../../../src/upkeep/check/check.ts'
import { same, send } from '../evolution/apps.ts'
import { DOORS, type Running, serve, write } from './apps.ts'
import { firstVersion, nextVersion, STATES, type Version } from './version.ts'
import {
  current,
  type Doc,
  filled,
  keptFields,
  overlaps,
  placeOf,
  refusals,
  removal,
  shown,
  World,
} from './world.ts'

/** One run. */
export class Rules {
  readonly trace: string[] = []
  readonly #random: Random
  readonly #open: () => Store
  readonly #world = new World()
  readonly #gone: string[] = []
  #running: Running[] = []
  #newest: Version
  #past: Version[] = []

  constructor(seed: number, open: () => Store) {
    this.#random = new Random(seed * 7919)
    this.#open = open
    this.#newest = firstVersion(this.#random)
  }

  async run(steps: number): Promise<void> {
    try {
      await this.#start(this.#newest)
      for (let at = 0; at < steps; at += 1) {
        await this.#step()
        for (const one of this.#running) await this.#check(one)
      }
    } finally {
      for (const { app } of this.#running) await app.close()
    }
  }

  async #step(): Promise<void> {
    const random = this.#random
    if (this.#running.length === 0) return void (await this.#start(this.#newest))
    const chance = random.below(100)
    const one = random.of(this.#running as [Running])
    if (chance < 70) return this.#write(one)
    if (chance < 84) {
      const next = nextVersion(random, this.#newest)
      const before = this.#newest
      if (await this.#start(next)) {
        this.#past.push(before)
        this.#newest = next
      }
      return
    }
    if (chance < 90) return this.#stop(one)
    if (chance < 96) {
      const back = random.of([...this.#past, this.#newest] as [Version])
      if (!this.#running.some(({ version }) => version === back)) await this.#start(back)
      return
    }
    return this.#backfill(this.#newest)
  }

  #note(what: string, more: unknown = ''): void {
    this.trace.push(`${what} ${JSON.stringify(more)}`)
  }

  async #stop(one: Running): Promise<void> {
    this.#note('stop', one.version)
    this.#running = this.#running.filter((other) => other !== one)
    await one.app.close()
  }

  /** Whether records hold under an earlier name what can't be kept under two. */
  #holdsFormer(version: Version): boolean {
    const kept = keptFields(version)
    const old = Object.entries(version.renamed).flatMap(([from, to]) =>
      kept.includes(to) ? [from] : [],
    )
    return [...this.#world.items.values()].some((doc) =>
      old.some((name) => doc[name] !== undefined),
    )
  }

  /** Whether records overlap that no start has looked at. */
  #findsOverlaps(version: Version): boolean {
    const { looked } = this.#world
    return version.exclude.some((rule) => {
      const place = placeOf(version, rule)
      if (looked.has(place)) return false
      if (overlaps(version, rule, this.#world)) return true
      looked.add(place)
      return false
    })
  }

  /** Starts a version; whether it does. */
  async #start(version: Version): Promise<boolean> {
    const one = serve(version, this.#open())
    const error = await one.app.ready().then(
      () => undefined,
      (reason: Error) => reason,
    )
    this.#note('start', [version, error?.message])
    if (this.#holdsFormer(version)) {
      await one.app.close()
      same(error?.message.includes('still hold'), true, 'a start that has to be refused')
      await this.#backfill(version)
      return this.#start(version)
    }
    if (this.#findsOverlaps(version)) {
      await one.app.close()
      same(error?.message.includes('overlap in'), true, 'a start with records that overlap')
      return false
    }
    if (error) throw error
    const own = version.exclude.map((rule) => placeOf(version, rule))
    const { looked } = this.#world
    for (const place of looked) if (!own.includes(place)) looked.delete(place)
    // As the manual says: a name that is kept can't be another one for an earlier version.
    const kept = keptFields(version)
    const isMoved = Object.values(version.renamed).some((now) => kept.includes(now))
    if (isMoved) for (const other of this.#running) await this.#stop(other)
    this.#running.push(one)
    return true
  }

  async #backfill(version: Version): Promise<void> {
    for (const other of this.#running) await this.#stop(other)
    const one = serve(version, this.#open())
    const { stored, history, database, schemas } = hostOf(one.app.store)
    await database.prepare(schemas())
    const models = [one.owner, one.item]
    const result = await backfillRecords({ models, stored, history, database, schemas })
    this.#note('backfill', [version, result])
    for (const [id, doc] of this.#world.items) this.#world.items.set(id, filled(version, doc))
    await one.app.close()
  }

  async #write(one: Running): Promise<void> {
    const random = this.#random
    const { owners, items } = this.#world
    const chance = random.below(100)
    if (owners.size < 2 || chance < 10) {
      const { status, data } = await send(one.app, 'POST', '/owners', { name: 'o' })
      same(status, 201, 'POST /owners')
      owners.set(String((data as Fields)._id), { name: 'o' })
      return
    }
    if (items.size < 3 || chance < 40) return this.#create(one)
    if (chance < 75) return this.#patch(one, random.of([...items.keys()] as [string]))
    if (chance < 90) return this.#remove(one, 'item', random.of([...items.keys()] as [string]))
    return this.#remove(one, 'owner', random.of([...owners.keys()] as [string]))
  }

  #someId(to: 'owner' | 'item'): string | undefined {
    const there = [...(to === 'owner' ? this.#world.owners : this.#world.items).keys()]
    const gone = this.#gone.slice(-2)
    const all = this.#random.chance(85) ? there : gone
    return all.length > 0 ? this.#random.of(all as [string]) : undefined
  }

  /** A random value of each field, some of them. */
  #values(version: Version, isNew: boolean): Record<string, unknown> {
    const random = this.#random
    const values: Record<string, unknown> = {}
    const maybe = (name: string, make: () => unknown, isRequired = false) => {
      if (isRequired || random.chance(isNew ? 80 : 35)) values[name] = make()
    }
    const clear = (make: () => unknown) => () => (!isNew && random.chance(20) ? null : make())
    maybe(
      version.room,
      clear(() => random.of(['x', 'y'])),
    )
    maybe(
      version.from,
      clear(() => random.below(6)),
    )
    maybe(
      version.to,
      clear(() => 2 + random.below(6)),
    )
    const state = () => random.of(STATES)
    maybe(version.status, version.byDefault === undefined ? clear(state) : state)
    for (const { name, to, presence, inList } of version.references) {
      const one = () => this.#someId(to) ?? 'f'.repeat(24)
      const id = () => (inList ? random.list(2, one) : one())
      maybe(name, presence === 'optional' ? clear(id) : id, isNew && presence === 'required')
    }
    return values
  }

  async #create(one: Running): Promise<void> {
    const { version } = one
    const body = { title: 't', ...this.#values(version, true) }
    const after = filled({ ...version, renamed: {} }, body)
    const refused = refusals(version, this.#world, { changes: body, after })
    const door = this.#random.of(DOORS)
    const { status, data } = await write(one, door, { values: body })
    this.#note(`POST ${door} ${status}`, [body, data, refused])
    if (judged(status, refused)) return
    this.#world.items.set(String((data as Fields)._id), after)
  }

  async #patch(one: Running, id: string): Promise<void> {
    const { version } = one
    const held = this.#world.items.get(id) as Doc
    const before = current(version, held)
    const changes = this.#values(version, false)
    if (Object.keys(changes).length === 0) return
    const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
    const after = Object.fromEntries(merged)
    const refused = refusals(version, this.#world, { id, before, changes, after })
    const door = this.#random.of(DOORS)
    const { status, data } = await write(one, door, { id, values: changes })
    this.#note(`PATCH ${door} ${status}`, [id, changes, data, refused, held])
    if (!judged(status, refused)) return void this.#world.items.set(id, after)
    // A refused write may have moved the record to the names of now.
    const { stored } = hostOf(one.app.store)
    const [raw] = await stored(one.item).find({
      filter: { op: 'eq', field: '_id', value: id },
      sort: [],
      limit: 1,
    })
    const isMoved = Object.keys(version.renamed).every((old) => raw?.[old] === undefined)
    if (isMoved) this.#world.items.set(id, before)
  }

  async #remove(one: Running, kind: 'owner' | 'item', id: string): Promise<void> {
    const { owners, items } = this.#world
    const plan = removal(one.version, this.#world, kind, id)
    const door = this.#random.of(DOORS)
    const { status, data } = await write(one, door, { id, kind })
    this.#note(`DELETE ${kind} ${door} ${status}`, [id, data])
    if (judged(status, plan ? [] : [409]) || !plan) return
    for (const gone of [...plan.gone, id]) {
      items.delete(gone)
      this.#gone.push(gone)
    }
    if (kind === 'owner') owners.delete(id)
    for (const [other, doc] of plan.unset) items.set(other, doc)
  }

  async #check({ version, app, owner, item }: Running): Promise<void> {
    const byId = (data: unknown) =>
      Object.fromEntries((data as Fields[]).map(({ _id, ...rest }) => [String(_id), rest]))
    const { owners, items } = this.#world
    same(byId((await send(app, 'GET', '/owners')).data), Object.fromEntries(owners), 'owners')
    const all = [...items].map(([id, doc]) => [id, shown(version, doc)] as const)
    same(byId((await send(app, 'GET', '/items')).data), Object.fromEntries(all), 'items')
    for (const { name, to } of version.references) {
      const id = this.#someId(to)
      if (id === undefined) continue
      const { data } = await send(app, 'GET', `/items?${name}=${id}`)
      const found = all.flatMap(([one, doc]) => ([doc[name]].flat().includes(id) ? [one] : []))
      same(Object.keys(byId(data)).sort(), found.sort(), `?${name}=`)
    }
    const { problems } = await checkRecords(hostOf(app.store).database, [owner, item])
    const isOverlapping = version.exclude.some((rule) => overlaps(version, rule, this.#world))
    same(
      problems.some(({ problem }) => problem === 'overlap'),
      isOverlapping,
      'check',
    )
  }
}

/** Whether the write was refused, as it may be. */
function judged(status: number, refused: readonly number[]): boolean {
  const isRefused = status >= 400
  if (isRefused && !refused.includes(status))
    throw new Error(`${status}, not ${refused.join() || 'taken'}`)
  if (!isRefused && refused.length > 0) throw new Error(`taken, not ${refused.join()}`)
  return isRefused
}

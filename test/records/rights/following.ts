/**
 * Live lists, while records, rights and versions of the app change: each shows what its reader may see now, also after a break.
 *
 * @module
 */

import { expect } from 'vitest'
import type { Fields } from '../../../src/index.ts'
import { type LiveEvent, Reading } from '../live/stream.ts'
import { type Account, appOf, type Caller, type Hook } from './app.ts'
import { type Asked, Oracle, type Sight } from './oracle.ts'
import { type Action, changedProgramme, type RouterRules, VISIBLE } from './programme.ts'
import { type Ask, flat, LISTS, type ListDoor, marksIn, tool, urlOf } from './reading.ts'
import { WritingTrial } from './writing.ts'

/** How long it may take until a list shows what it must, or has ended. */
const PATIENCE_MS = 6000

/** A list as a client has it that follows it. */
class Followed {
  readonly caller: Caller
  readonly mount: string
  readonly asked: Asked
  readonly list = new Map<string, Fields>()
  last: string | undefined
  hasEnded = false
  #reading: Reading | undefined

  constructor(caller: Caller, mount: string, asked: Asked) {
    this.caller = caller
    this.mount = mount
    this.asked = asked
  }

  follow(response: Response): void {
    this.#reading = new Reading(response)
    void this.#read(this.#reading)
  }

  async #read(reading: Reading): Promise<void> {
    for (let next = await reading.next(); next; next = await reading.next()) {
      if (reading !== this.#reading) return
      if (next.event === 'end') break
      this.#take(next)
    }
    if (reading === this.#reading) this.hasEnded = true
  }

  #take({ event, id, data: told }: LiveEvent): void {
    this.last = id
    const { data } = told as { data: Fields | Fields[] }
    if (event === 'records') this.list.clear()
    for (const one of [data].flat()) {
      if (event === 'unset') this.list.delete(String(one._id))
      else this.list.set(String(one._id), one)
    }
  }

  async cut(): Promise<void> {
    const reading = this.#reading
    this.#reading = undefined
    await reading?.cancel().catch(() => {})
  }
}

export class FollowingTrial extends WritingTrial {
  readonly #followed: Followed[] = []

  #rulesOf({ mount }: Followed): RouterRules {
    return this.oracle.programme.routers.find((one) => one.mount === mount) as RouterRules
  }

  /** What a list must show; undefined if its reader is refused. */
  #must(one: Followed): { readonly sight: Sight; readonly records: readonly Fields[] } | undefined {
    const rules = this.#rulesOf(one)
    const who = this.oracle.judge(rules, 'list', one.caller)
    if (typeof who === 'number') return undefined
    const sight = this.sight(rules, who)
    if (this.isRefused(sight, LISTS.live as ListDoor, one.asked)) return undefined
    const whole = this.inUrl(sight, one.asked)
    return { sight, records: sight.list(whole).map((each) => sight.shown(each, whole)) }
  }

  async #open(one: Followed): Promise<void> {
    const headers = {
      accept: 'text/event-stream',
      ...(one.caller.token && { authorization: `Bearer ${one.caller.token}` }),
      ...(one.last && { 'last-event-id': one.last }),
    }
    const path = `${one.mount}${urlOf(one.asked)}`
    const response = await this.world.app.handle(
      new Request(`http://localhost${path}`, { headers }),
    )
    const must = this.#must(one)
    expect(response.status === 200, this.about(one.mount, one.asked, one.caller)).toBe(
      must !== undefined,
    )
    if (must) {
      one.follow(response)
      if (!this.#followed.includes(one)) this.#followed.push(one)
    } else expect(marksIn(await response.text())).toEqual([])
  }

  /** Follows one list more, if it finds one soon that may be followed. */
  async follow(): Promise<void> {
    const door = LISTS.live as ListDoor
    for (let tries = 0; tries < 6 && this.#followed.length < 12; tries += 1) {
      const one = new Followed(this.caller(), this.router().mount, this.asked(door))
      const isOpen = this.#must(one) !== undefined
      await this.#open(one)
      if (isOpen) return
    }
  }

  /** Each list is what it must be. */
  async checkFollowed(): Promise<void> {
    for (const one of [...this.#followed]) {
      const state = () => {
        const must = this.#must(one)
        if (!must) return one.hasEnded || 'it must end'
        if (one.hasEnded) return 'it has ended'
        // What becomes of the parents is not told again; kinds stay as they are.
        const bare = (each: Fields) =>
          flat({
            ...each,
            ...('parent' in each && { parent: 1 }),
          })
        const by = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1)
        const list = [...one.list].map(([id, each]): [string, string] => [id, bare(each)]).sort(by)
        const records = must.records
          .map((each): [string, string] => [String(each._id), bare(each)])
          .sort(by)
        return flat(list) === flat(records) || flat([list, records])
      }
      const about = this.about(one.mount, one.asked, this.#rulesOf(one), one.caller)
      await expect.poll(state, { timeout: PATIENCE_MS, interval: 5, message: about }).toBe(true)
      this.count(one.hasEnded ? 'followed ended' : 'followed')
      if (one.hasEnded) this.#drop(one)
    }
  }

  #drop(one: Followed): void {
    this.#followed.splice(this.#followed.indexOf(one), 1)
  }

  /** Breaks off some list, and goes on with it. */
  async checkBreak(): Promise<void> {
    for (const one of [...this.#followed]) {
      if (!this.random.chance(30)) continue
      await one.cut()
      if (this.random.chance(50)) await this.step()
      await this.#again(one)
    }
  }

  async #again(one: Followed): Promise<void> {
    if (!this.#must(one)) this.#drop(one)
    await this.#open(one)
  }

  /** Another version of the app takes the place of this one. */
  async deploy(): Promise<void> {
    const before = this.oracle
    const old = this.world
    const programme = changedProgramme(this.random, before.programme)
    this.oracle = new Oracle(programme, before)
    this.world = await appOf(programme, this.place)
    this.count('deploy')
    const isOther = programme.hasOutput !== before.programme.hasOutput
    for (const one of [...this.#followed]) {
      await one.cut()
      const { read, write, entry, fields, onGet } = this.#rulesOf(one)
      const isRuled = entry === 'owned' || read !== 'all' || write !== 'all' || fields || onGet
      // Its ids are positions alone.
      if (isOther && !isRuled) one.last = undefined
      await this.#again(one)
    }
    await old.app.close()
  }

  #told = 0

  /** What was written is told as those may see it now for whom it is sent: by the first router that shows it. */
  async checkHooks(hooks: readonly Hook[]): Promise<void> {
    const changes = this.oracle.log.slice(this.#told)
    this.#told = this.oracle.log.length
    await this.world.sendWebhooks()
    for (const { name, receiver } of hooks) {
      const account = this.accounts.find((one) => one.name === name)
      const seen = (record: Fields | null) => record && this.#seenBy(account, record)
      const must = changes.flatMap(({ before, after, kind }) => {
        const data = seen(after ?? before)
        const isSame = kind === 'updated' && flat(seen(before) ?? null) === flat(data ?? null)
        return !data || isSame ? [] : [flat(data)]
      })
      const told = receiver.received.splice(0).map(({ body }) => flat(body.data))
      this.count(`hook for ${account ? 'an account' : name}: ${must.length > 0}`)
      const about = this.about(account, this.oracle.programme)
      expect(told.toSorted(), about).toEqual(must.toSorted())
    }
  }

  #seenBy(account: Account | undefined, record: Fields): Fields | undefined {
    for (const rules of this.oracle.programme.routers) {
      const sight = this.#sightOf(account, rules)
      if (sight?.sees(record)) return sight.shown(record)
    }
    return undefined
  }

  /** What an account sees through a router without a session; undefined if that refuses it. */
  #sightOf(account: Account | undefined, rules: RouterRules): Sight | undefined {
    const { read, list } = rules.access
    if (rules.entry === 'session' || (read === 'no' && list === 'no')) return undefined
    const caller: Caller = { account, allow: undefined, token: '' }
    const who = this.oracle.judge(rules, read === 'no' ? 'list' : 'read', caller)
    if (typeof who === 'number') return undefined
    // Where no guard looks the account up, it is known by its id alone.
    const named = account && { id: account.id, team: 'undefined', role: 'undefined' }
    return this.sight(rules, who ?? named)
  }

  /** What tools tell of models, and of what a caller may do with them. */
  async checkTools(): Promise<void> {
    const { oracle } = this
    const caller = this.caller()
    const ask = this.asker(caller)
    const all = oracle.programme.routers.flatMap((rules) => {
      const actions = this.#listedFor(rules, caller)
      return actions.length > 0 ? [{ model: rules.mount, actions }] : []
    })
    const { status, text, records } = await tool(ask, 'list_models', {})
    const about = this.about(caller, oracle.programme, status, text)
    if (status === 401) return expect(this.#isTaken(caller), about).toBe(false)
    expect(flat(records.filter((one) => one.model !== '/kinds')), about).toBe(flat(all))
    this.count('tools')
    await this.#checkDescribed(ask, caller)
  }

  /** What tools list; also what guards of your own would refuse. */
  #listedFor(rules: RouterRules, caller: Caller): string[] {
    const { account } = caller
    const flagged = account && { ...account, rights: { ...account.rights, flag: true } }
    const judged = (action: Action) =>
      this.oracle.judge(rules, action, { ...caller, account: flagged })
    return Object.entries(TOOLS).flatMap(([name, action]) =>
      typeof judged(action) === 'number' ? [] : [name],
    )
  }

  /** Whether the guards of some router know who it is, whatever they refuse. */
  #isTaken(caller: Caller): boolean {
    const { routers, kinds } = this.oracle.programme
    const judged = routers.flatMap((rules) =>
      Object.values(TOOLS).map((action) => this.oracle.judge(rules, action, caller)),
    )
    return kinds.isGuarded || judged.some((one) => one === 403 || typeof one === 'object')
  }

  async #checkDescribed(ask: Ask, caller: Caller): Promise<void> {
    const rules = this.router()
    const who = this.oracle.judge(rules, 'query', caller)
    if (typeof who === 'number') return
    const { record } = await tool(ask, 'describe_model', { model: rules.mount })
    const paths = Object.keys(record.fields as Fields).filter((path) => path !== '_id')
    const tops = new Set(paths.map((path) => path.split('.')[0]))
    const sight = this.sight(rules, who)
    const names = VISIBLE.filter((name) => name !== '_id' && sight.knows(name))
    const about = this.about(rules, caller, record)
    expect([[...tops].sort(), paths.includes('info.ssn')], about).toEqual([names.toSorted(), false])
    this.count('described')
  }
}

/** What tools call actions. */
const TOOLS: Readonly<Record<string, Action>> = {
  ...{ list: 'query', read: 'read', create: 'create', update: 'update', remove: 'remove' },
}

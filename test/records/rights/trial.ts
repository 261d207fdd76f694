/**
 * A random programme of rules, and random requests through every door: each answer is what the oracle says.
 *
 * @module
 */

import { expect } from 'vitest'
import type { Random } from '../../../extras/contract/store/random.ts'
import type { Fields } from '../../../src/index.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import type { Answer } from '../service.ts'
import { type Account, appOf, type Caller, type Place, type World } from './app.ts'
import { type Asked, Oracle, Sight } from './oracle.ts'
import { type Principal, programmeOf, type RouterRules } from './programme.ts'
import {
  type Ask,
  firstEvent,
  flat,
  LISTS,
  type ListDoor,
  marksIn,
  rowsOf,
  tool,
  urlOf,
} from './reading.ts'

const KEYED_ACTIONS = ['list', 'read', 'create', 'update', 'remove', 'history', 'restore']

/** The statuses of a refusal: of a route that is not served, the guards of the router come first. */
export const refusedWith = (status: number) => (status === 405 ? [401, 403, 404, 405] : [status])

export class Trial {
  readonly random: Random
  readonly place: Place
  oracle: Oracle
  world: World
  accounts: readonly Account[] = []
  readonly callers: Caller[] = [{ account: undefined, allow: undefined, token: '' }]
  /** What each caller's tags of single records stood for. */
  readonly tags = new Map<string, string>()
  #position: string | undefined
  #marks = 0
  readonly counts: Record<string, number> = {}

  constructor(random: Random, place: Place, oracle: Oracle, world: World) {
    this.random = random
    this.place = place
    this.oracle = oracle
    this.world = world
  }

  static async begin<T extends Trial>(
    this: new (
      random: Random,
      place: Place,
      oracle: Oracle,
      world: World,
    ) => T,
    random: Random,
    place: Place,
  ): Promise<T> {
    const programme = programmeOf(random)
    const world = await appOf(programme, place)
    const trial = new this(random, place, new Oracle(programme), world)
    const accounts: Account[] = []
    for (const name of ['ann', 'bob', 'eve']) accounts.push(await world.enrol(name))
    trial.accounts = accounts
    for (const account of accounts) {
      trial.callers.push(await world.session(account))
      const mounts = programme.routers.map(({ mount }) => mount)
      const allow = Object.fromEntries(
        mounts.map((mount) => [mount, KEYED_ACTIONS.filter(() => random.chance(60))]),
      )
      if (Object.values(allow).some((one) => one.length > 0))
        trial.callers.push(await world.key(account, allow))
    }
    for (let count = 0; count < 3; count += 1) {
      const values = { title: trial.mark(), team: random.of(['a', 'b']), secret: trial.mark() }
      const { _id } = await world.kinds.insert(values)
      trial.oracle.kinds.set(_id, { _id, ...values })
    }
    for (let count = 0; count < 8; count += 1) await world.docs.insert(trial.values())
    await trial.look()
    return trial
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }

  mark(): string {
    this.#marks += 1
    return `~${this.#marks}~`
  }

  /** Takes note of what was written. */
  async look(): Promise<readonly LoggedChange[]> {
    const { changes } = hostOf(this.world.app.store)
    const { _id } = await this.world.marks.insert({ at: 0 })
    const found: LoggedChange[] = []
    const models = ['RightsDoc', 'RightsMark']
    for (let isWhole = false; !isWhole; ) {
      const read = await changes?.read(this.#position, { limit: 1000, models })
      if (!read || 'gone' in read) throw new Error('no log')
      this.#position = read.position
      found.push(...read.changes)
      isWhole = found.some(({ after }) => after?._id === _id)
    }
    const own = found.filter(({ model }) => model === 'RightsDoc')
    this.oracle.took(own)
    return own
  }

  values(): Fields {
    const { random, oracle } = this
    const ids = [...oracle.docs.keys()]
    const all = {
      salary: this.mark(),
      pin: this.mark(),
      info: { nick: this.mark(), ssn: this.mark() },
      team: random.of(['a', 'b']),
      owner: random.of(this.accounts as [Account]).id,
      public: random.chance(50),
      kind: random.of([...oracle.kinds.keys()] as [string]),
      ...(ids.length > 0 && { parent: random.of(ids as [string]) }),
    }
    const some = Object.entries(all).filter(() => random.chance(85))
    return { title: this.mark(), ...Object.fromEntries(some) }
  }

  caller(): Caller {
    return this.random.of(this.callers as [Caller])
  }

  router(): RouterRules {
    return this.random.of(this.oracle.programme.routers as unknown as [RouterRules])
  }

  /** The id of a record that is there, or was. */
  anId(): string {
    const gone = this.oracle.log.flatMap(({ before }) => (before ? [String(before._id)] : []))
    const there = [...this.oracle.docs.keys()]
    return this.random.of((this.random.chance(85) || gone.length === 0 ? there : gone) as [string])
  }

  asker(caller: Caller): Ask {
    return (...request) => this.world.ask(caller, ...request)
  }

  sight(rules: RouterRules, who: Principal | undefined): Sight {
    return new Sight(this.oracle, rules, who)
  }

  about(...all: unknown[]): string {
    return JSON.stringify(all, (_, one) => (one instanceof Headers ? undefined : one))
  }

  /** A value that some record has. */
  #valueAt(path: string): unknown {
    const [head = '', rest] = path.split('.')
    const record = this.random.of([...this.oracle.docs.values()] as [Fields])
    const value = rest ? (record[head] as Fields | undefined)?.[rest] : record[head]
    return value ?? (path === 'public' ? true : '~0~')
  }

  #where(): Fields {
    const { random } = this
    const paths = ['title', 'salary', 'info.nick', 'team', 'public', 'pin', 'info.ssn']
    const path = random.of(paths as [string])
    return { [path]: this.#valueAt(path) }
  }

  asked({ lacks, isUrl }: ListDoor): Asked {
    const { random } = this
    const all: Asked = {
      ...(random.chance(40) && { where: this.#where() }),
      ...(random.chance(20) && { or: [this.#where(), this.#where()] }),
      ...(random.chance(30) && {
        search: String(
          this.#valueAt(random.of(['title', 'salary', 'info.nick', 'pin', 'info.ssn'])),
        ),
      }),
      ...(random.chance(30) && {
        sort: random.of(['title', '-salary', 'team', 'pin', 'info.ssn']),
      }),
      ...(random.chance(25) && {
        select: random.of([
          ['title'],
          ['salary', 'team'],
          ['pin'],
          ['kind'],
          ['info'],
          ['info.ssn'],
        ]),
      }),
      ...(random.chance(35) && {
        expand: random.of([['kind'], ['parent'], ['parent.kind'], ['kind', 'parent']]),
      }),
    }
    const kept = Object.entries(all).filter(([name]) => !lacks.includes(name as keyof Asked))
    const { where, ...rest } = Object.fromEntries(kept) as Asked
    return {
      ...rest,
      ...(where && (isUrl || !Object.keys(where).some((one) => one.includes('.'))) && { where }),
    }
  }

  /** A list through some door. */
  async checkList(): Promise<void> {
    const [name, door] = this.random.of(Object.entries(LISTS) as unknown as [[string, ListDoor]])
    const [caller, rules] = [this.caller(), this.router()]
    const asked = this.asked(door)
    const answer =
      name === 'live'
        ? await this.live(caller, `${rules.mount}${urlOf(asked)}`)
        : await door.ask(this.asker(caller), rules.mount, asked)
    const who = this.oracle.judge(rules, door.action, caller)
    const about = this.about(
      name,
      asked,
      rules,
      who,
      caller,
      answer.status,
      answer.text.slice(0, 900),
    )
    if (typeof who === 'number') {
      this.count(`${name} refused`)
      expect(marksIn(answer.text), about).toEqual([])
      expect(name === 'tool' ? [400, ...refusedWith(who)] : refusedWith(who), about).toContain(
        answer.status,
      )
      return
    }
    const sight = this.sight(rules, who)
    const whole = door.isUrl ? this.inUrl(sight, asked) : asked
    const must = door.expected
      ? door.expected(sight, whole)
      : sight.list(whole).map((one) => sight.shown(one, whole))
    const isRefused = must === undefined || this.isRefused(sight, door, asked)
    this.count(isRefused ? `${name} 400` : name)
    if (isRefused) {
      const sent = marksIn(JSON.stringify(asked))
      expect(sent, about).toEqual(expect.arrayContaining(marksIn(answer.text)))
      expect(answer.status, about).toBe(400)
      return
    }
    expect(answer.status, about).toBe(200)
    expect(flat(rowsOf(door, answer)), about).toBe(flat(must))
  }

  /** A filter in a URL by what nobody may filter by is none. */
  inUrl(sight: Sight, asked: Asked): Asked {
    const where = Object.entries(asked.where ?? {}).filter(
      ([path]) => sight.rules.query.includes(path) && sight.knows(path),
    )
    return { ...asked, where: Object.fromEntries(where) }
  }

  isRefused(sight: Sight, door: ListDoor, asked: Asked): boolean {
    // Through references a live list is not searched.
    const isThrough = sight.rules.search.some((path) => {
      const [head = '', rest = ''] = path.split('.')
      if (!['kind', 'parent'].includes(head)) return false
      return sight.knows(head) && (head !== 'parent' || sight.knows(rest))
    })
    const isSearched = door === LISTS.live && asked.search !== undefined && isThrough
    return isSearched || sight.refuses(asked, door.isUrl)
  }

  async live({ token }: Caller, path: string, last?: string): Promise<Answer> {
    const headers = {
      accept: 'text/event-stream',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(last && { 'last-event-id': last }),
    }
    return firstEvent(
      await this.world.app.handle(new Request(`http://localhost${path}`, { headers })),
    )
  }

  /** A refusal says nothing of what is stored. */
  checkRefusal(answer: Answer, statuses: readonly number[], isTool: boolean, about: string): void {
    expect(marksIn(answer.text), about).toEqual([])
    expect(isTool ? [400, ...statuses] : statuses, about).toContain(answer.status)
  }

  /** One record, with its tag: a 304 only for what would be the very same. */
  async checkOne(): Promise<void> {
    const { random, oracle } = this
    const [caller, rules, id] = [this.caller(), this.router(), this.anId()]
    const name = random.of(['one', 'one', 'head', 'tool, one'])
    const lacks = ['where', 'or', 'search', 'sort'] as const
    const choice = name === 'one' ? this.asked({ ...LISTS.get, lacks } as ListDoor) : {}
    const [tag] = name === 'one' && random.chance(40) ? this.#aTag() : []
    const answer = await this.#one(name, caller, `${rules.mount}/${id}`, urlOf(choice), tag)
    const who = oracle.judge(rules, 'read', caller)
    const { status, text } = answer
    const about = this.about(name, id, choice, rules, who, caller, status, text.slice(0, 900))
    this.count(typeof who === 'number' ? `${name} refused` : name)
    const isTool = name === 'tool, one'
    if (typeof who === 'number') return this.checkRefusal(answer, refusedWith(who), isTool, about)
    const sight = this.sight(rules, who)
    if (sight.refuses(choice, true)) return this.checkRefusal(answer, [400], isTool, about)
    const record = oracle.docs.get(id)
    if (!record || !sight.sees(record)) return this.checkRefusal(answer, [404], isTool, about)
    const must = flat(sight.shown(record, choice))
    if (status === 304) return expect(this.tags.get(String(tag)), about).toBe(must)
    expect(status, about).toBe(200)
    if (name === 'head') return expect(text, about).toBe('')
    expect(flat(answer.record), about).toBe(must)
    const made = answer.headers.get('etag')
    if (made && name === 'one') this.tags.set(made, must)
  }

  /** A tag that somebody has got for something, if there is any. */
  #aTag(): string[] {
    const known = [...this.tags.keys()]
    return known.length > 0 ? [this.random.of(known as [string])] : []
  }

  #one(name: string, caller: Caller, path: string, choice: string, tag: string | undefined) {
    const ask = this.asker(caller)
    if (name === 'tool, one') {
      const [, model = '', id] = /^(.*)\/(.*)$/.exec(path) ?? []
      return tool(ask, 'read_record', { model, id })
    }
    const headers = tag ? { 'if-none-match': tag } : {}
    return ask(name === 'head' ? 'HEAD' : 'GET', `${path}${choice}`, { headers })
  }

  /** What happened to a record. */
  async checkHistory(): Promise<void> {
    const [caller, rules, id] = [this.caller(), this.router(), this.anId()]
    const answer = await this.asker(caller)('GET', `${rules.mount}/${id}/history?pageSize=100`)
    const who = this.oracle.judge(rules, 'history', caller)
    const about = this.about('history', id, rules, who, caller, answer.status, answer.text)
    this.count(typeof who === 'number' ? 'history refused' : 'history')
    if (typeof who === 'number') {
      expect(marksIn(answer.text), about).toEqual([])
      expect(refusedWith(who), about).toContain(answer.status)
      return
    }
    const sight = this.sight(rules, who)
    const changes = this.oracle.changesOf(id)
    const last = this.oracle.docs.get(id) ?? changes.at(-1)?.before
    if (!last || !sight.sees(last)) {
      expect([answer.status, marksIn(answer.text)], about).toEqual([404, []])
      return
    }
    const told = changes.toReversed().flatMap(({ id: _id, before, after, kind }) => {
      const [from, to] = [sight.state(before), sight.state(after)]
      const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
        (one) => one !== '_id',
      )
      const changed = names.filter((one) => flat(from[one] ?? null) !== flat(to[one] ?? null))
      const isSeen = [before, after].some((one) => one && sight.sees(one))
      if (!isSeen || (changed.length === 0 && kind === 'updated')) return []
      return [
        [
          _id,
          Object.fromEntries(
            changed.map((one) => [one, { from: from[one] ?? null, to: to[one] ?? null }]),
          ),
        ],
      ]
    })
    expect(answer.status, about).toBe(200)
    const got = answer.records.map((one) => [one.id, one.changes])
    expect(flat(got), about).toBe(flat(told))
  }

  /** Records change, and rights do. */
  async step(): Promise<void> {
    const { random, world, oracle } = this
    const account = random.of(this.accounts as [Account])
    const what = random.below(10)
    const ids = [...oracle.docs.keys()]
    const id = random.of(ids as [string])
    if (what === 0) await world.grant(account, { flag: !account.rights.flag })
    else if (what === 1) await world.grant(account, { team: random.of(['a', 'b']) })
    else if (what === 2)
      await world.grant(account, { role: account.rights.role === 'user' ? 'clerk' : 'user' })
    else if (what < 5 || ids.length < 6) await world.docs.insert(this.values())
    else if (what === 5 && ids.length > 8) await world.docs.delete(id)
    else {
      const changed = Object.entries(this.values()).filter(() => random.chance(40))
      await world.docs.update(id, Object.fromEntries(changed))
    }
    await this.look()
  }

  /** What is logged tells nothing of what is stored, and all of it was tried. */
  end(...tried: readonly string[]): void {
    expect(marksIn(this.world.log.text)).toEqual([])
    for (const name of tried) expect(this.counts[name] ?? 0, name).toBeGreaterThan(0)
  }
}

/**
 * Who may see and do what, by an independent reading of the rules.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import type { Account, Caller } from './app.ts'
import {
  type Access,
  type Action,
  type Entry,
  type Limits,
  limitsOf,
  type Principal,
  type Programme,
  type RouterRules,
  type ScopeName,
  VISIBLE,
} from './programme.ts'

export const holds = (record: Fields, limits: Limits): boolean =>
  Object.entries(limits).every(([name, value]) => (record[name] ?? null) === (value ?? null))

/** Whether a record is within what a scope says. */
export const within = (record: Fields, limits: readonly Limits[] | undefined): boolean =>
  limits === undefined || limits.some((one) => holds(record, one))

/** What a client may ask of a list. */
export interface Asked {
  readonly where?: Readonly<Record<string, unknown>>
  readonly or?: readonly Readonly<Record<string, unknown>>[]
  readonly search?: string
  readonly sort?: string
  readonly select?: readonly string[]
  readonly expand?: readonly string[]
}

/** What is seen through one router by one caller. */
export class Sight {
  readonly rules: RouterRules
  readonly who: Principal | undefined
  readonly #oracle: Oracle

  constructor(oracle: Oracle, rules: RouterRules, who: Principal | undefined) {
    this.#oracle = oracle
    this.rules = rules
    this.who = who
  }

  /** The names that it may see and ask by; undefined for all. */
  get names(): readonly string[] | undefined {
    const { fields } = this.rules
    if (!fields || (this.who?.role === 'clerk' && !fields.isForClerks)) return undefined
    return ['_id', ...fields.names]
  }

  knows(path: string): boolean {
    return this.names?.includes(path.split('.')[0] as string) ?? true
  }

  limits(action: 'read' | 'write'): readonly Limits[] | undefined {
    const { rules, who } = this
    if (rules.entry === 'owned') return [{ owner: who?.id }]
    return limitsOf(rules[action], who)
  }

  sees(record: Fields): boolean {
    return within(record, this.limits('read'))
  }

  /** The fields of a record, before references are filled in. */
  part(record: Fields, isPlain = false): Fields {
    const select = isPlain ? undefined : this.rules.onGet?.select
    const isChosen = (name: string) => {
      if (!select) return true
      return select[0]?.startsWith('-') ? !select.includes(`-${name}`) : select.includes(name)
    }
    const names = VISIBLE.filter((one) => one === '_id' || (this.knows(one) && isChosen(one)))
    return visible(record, names)
  }

  /** A record as it is shown. */
  shown(record: Fields, asked: Asked = {}, isPlain = false): Fields {
    const { select, expand = [] } = asked
    const part = this.part(record, isPlain)
    for (const path of ['kind', 'parent'] as const) {
      if (part[path] === undefined || !this.#isFilled(path, expand, isPlain)) continue
      const isDeeper = expand.includes('parent.kind')
      part[path] = path === 'kind' ? this.kind(part.kind) : this.parent(part.parent, isDeeper)
    }
    if (!select) return this.#output(part)
    const named = ['_id', ...select, ...expand.map((one) => one.split('.')[0])]
    return Object.fromEntries(Object.entries(part).filter(([name]) => named.includes(name)))
  }

  #isFilled(path: string, expand: readonly string[], isPlain: boolean): boolean {
    const isExpanded = expand.some((one) => one === path || one.startsWith(`${path}.`))
    return isExpanded || (!isPlain && this.rules.onGet?.populate?.includes(path) === true)
  }

  /** What the model's `output` makes of it. */
  #output(part: Fields): Fields {
    const isOther = this.#oracle.programme.hasOutput && part.title !== undefined
    return isOther ? { ...part, shout: `${part.title}!` } : part
  }

  /** A record as its history shows it. */
  state(record: Fields | null): Fields {
    return record && this.sees(record) ? this.#output(this.part(record)) : {}
  }

  kind(id: unknown): Fields | null {
    const { programme, kinds } = this.#oracle
    const found = kinds.get(String(id))
    if (!found || !within(found, limitsOf(programme.kinds.scope, this.who))) return null
    const { secret: _, ...rest } = found
    return rest
  }

  parent(id: unknown, isDeeper: boolean): Fields | null {
    const found = this.#oracle.docs.get(String(id))
    if (!found || !this.#oracle.isReached(found, this.who)) return null
    const names = VISIBLE.filter((one) => one === '_id' || this.knows(one))
    const part = visible(found, names)
    if (isDeeper && part.kind !== undefined) part.kind = this.kind(part.kind)
    return this.#output(part)
  }

  /** The records of a list. */
  list(asked: Asked): Fields[] {
    const { where = {}, or, search, sort } = asked
    const texts = this.rules.search.filter((path) => {
      const [head = '', rest = ''] = path.split('.')
      return this.knows(head) && (head !== 'parent' || this.knows(rest))
    })
    const finds = (record: Fields) =>
      texts.some((path) => this.#textAt(record, path)?.includes(String(search)))
    const records = [...this.#oracle.docs.values()].filter(
      (one) =>
        this.sees(one) &&
        matches(one, where) &&
        (!or || or.some((each) => matches(one, each))) &&
        (search === undefined || texts.length === 0 || finds(one)),
    )
    const key = (one: Fields) => `${at(one, sort?.replace('-', '') ?? '_id') ?? ''}`
    const way = sort?.startsWith('-') ? -1 : 1
    const by = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
    return records.toSorted((a, b) => way * by(key(a), key(b)) || by(String(a._id), String(b._id)))
  }

  #textAt(record: Fields, path: string): string | undefined {
    const [head = '', rest = ''] = path.split('.')
    if (head === 'kind') return this.kind(record.kind)?.title as string | undefined
    if (head !== 'parent') return at(record, path) as string | undefined
    const found = this.#oracle.docs.get(String(record.parent))
    return found && this.#oracle.isReached(found, this.who)
      ? (found[rest] as string | undefined)
      : undefined
  }

  /** Why a list is refused with a 400, if it is; a filter in a URL by what nobody may filter by is no filter. */
  refuses({ where = {}, or = [], sort, select = [], expand = [] }: Asked, isUrl: boolean): boolean {
    const { query, sortable, expandable } = this.rules
    const part = this.part(Object.fromEntries(VISIBLE.map((name) => [name, ''])))
    const filters = [...(isUrl ? [] : Object.keys(where)), ...or.flatMap((one) => Object.keys(one))]
    const parents = visible(
      Object.fromEntries(VISIBLE.map((name) => [name, ''])),
      this.names ?? VISIBLE,
    )
    return (
      filters.some((name) => name.includes('.') || !query.includes(name) || !this.knows(name)) ||
      (sort !== undefined &&
        !(sortable.includes(sort.replace('-', '')) && this.knows(sort.replace('-', '')))) ||
      expand.some(
        (name) =>
          !expandable.includes(name) ||
          part[name.split('.')[0] as string] === undefined ||
          (name === 'parent.kind' && parents.kind === undefined),
      ) ||
      select.some((name) => part[name] === undefined)
    )
  }
}

const at = (record: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], record)

const matches = (record: Fields, where: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(where).every(([path, value]) => at(record, path) === value)

function visible(record: Fields, names: readonly string[]): Fields {
  const found: Fields = {}
  for (const name of names) if (record[name] !== undefined) found[name] = record[name]
  if (found.info) found.info = { nick: (found.info as Fields).nick }
  return found
}

/** What was written, and who may see and do what. */
export class Oracle {
  readonly programme: Programme
  readonly docs: Map<string, Fields>
  readonly kinds: Map<string, Fields>
  readonly log: LoggedChange[]

  /** `before` has what was written for another version. */
  constructor(programme: Programme, before?: Oracle) {
    this.programme = programme
    this.docs = before?.docs ?? new Map()
    this.kinds = before?.kinds ?? new Map()
    this.log = before?.log ?? []
  }

  took(changes: readonly LoggedChange[]): void {
    this.log.push(...changes)
    for (const { before, after } of changes) {
      if (after) this.docs.set(String(after._id), after)
      else this.docs.delete(String(before?._id))
    }
  }

  changesOf(id: string): LoggedChange[] {
    return this.log.filter(({ before, after }) => (after ?? before)?._id === id)
  }

  /** Whom the guards of a route find: undefined for nobody, a number for the status of their refusal. */
  judge(rules: RouterRules, action: Action, caller: Caller): Principal | undefined | number {
    const { entry } = rules
    const access = rules.access[action]
    if (access === 'no') return 405
    const demands = access !== 'all' || (entry !== 'anyone' && entry !== 'optional')
    if (entry === 'anyone' && !demands) return undefined
    const { account } = caller
    if (!account) return demands ? 401 : undefined
    return keyRefusal(rules, action, caller) ?? ofAccount(account, entry, access)
  }

  /** Whether a record may be filled in, or searched through: by the scopes of all routers of its model. */
  isReached(record: Fields, who: Principal | undefined): boolean {
    const scopes = this.programme.routers.flatMap((rules): (ScopeName | 'owned' | 'none')[] => {
      const { entry, read, write, access, isKeyed } = rules
      if (entry === 'owned') return ['owned']
      if (read !== 'all' || write !== 'all') return [read]
      const isOpen =
        entry === 'anyone' && !isKeyed && access.list === 'all' && access.read === 'all'
      return isOpen ? ['none'] : []
    })
    if (scopes.length === 0 || scopes.includes('none')) return true
    return scopes.some((name) => {
      if (name === 'owned') return who !== undefined && record.owner === who.id
      return name !== 'none' && within(record, limitsOf(name, who))
    })
  }
}

/** Why a key is refused, if it is one, and is. */
function keyRefusal({ mount, entry }: RouterRules, action: Action, { allow }: Caller) {
  if (!allow) return undefined
  if (entry === 'session') return 401
  return allow[mount]?.includes(action === 'query' ? 'list' : action) ? undefined : 403
}

function ofAccount({ id, rights }: Account, entry: Entry, access: Access): Principal | 403 {
  const { team, role, flag } = rights
  const mustBeClerk = entry === 'clerk' || access === 'clerk'
  if ((mustBeClerk && role !== 'clerk') || (access === 'flag' && !flag)) return 403
  return { id, team, role }
}

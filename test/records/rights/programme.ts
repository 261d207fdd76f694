/**
 * Random rules of several routers over one model, as data: the app is made of them (app.ts), and so is what must be seen
 * (oracle.ts).
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'

/** Whom the guards of a router let through. */
export type Entry = 'anyone' | 'optional' | 'signed' | 'session' | 'clerk' | 'owned'

/** The records of a request, by name. */
export type ScopeName = 'all' | 'team' | 'own' | 'own or public' | 'public of the team' | 'by role'

/** Who may use one route. */
export type Access = 'all' | 'no' | 'clerk' | 'flag'

export const ACTIONS = [
  ...(['list', 'query', 'read', 'create', 'update', 'remove'] as const),
  ...(['history', 'restore'] as const),
]
export type Action = (typeof ACTIONS)[number]

/** The fields that are not hidden, in the model's order. */
export const VISIBLE = [
  ...(['_id', 'title', 'salary', 'info', 'team', 'owner', 'public', 'kind', 'parent'] as const),
]

/** The rules of one router. */
export interface RouterRules {
  readonly mount: string
  readonly entry: Entry
  readonly read: ScopeName
  readonly write: ScopeName
  /** Whether both scopes are one function. */
  readonly isOneScope: boolean
  /** The fields that are shown to those who are no clerks, or to anyone; undefined for all. */
  readonly fields: { readonly names: readonly string[]; readonly isForClerks: boolean } | undefined
  readonly access: Readonly<Record<Action, Access>>
  readonly onGet:
    | { readonly select?: readonly string[]; readonly populate?: readonly string[] }
    | undefined
  readonly expandable: readonly string[]
  readonly query: readonly string[]
  readonly search: readonly string[]
  readonly sortable: readonly string[]
  readonly groups: readonly string[]
  readonly allowed: { readonly create: readonly string[]; readonly update: readonly string[] }
  readonly isCached: boolean
  readonly isByCursor: boolean
  readonly isKeyed: boolean
}

export interface Programme {
  readonly routers: readonly RouterRules[]
  /** The scope of the router of kinds, which decides which of them are filled in elsewhere. */
  readonly kinds: { readonly scope: ScopeName; readonly isGuarded: boolean }
  readonly hasOutput: boolean
}

const SCOPES: readonly [ScopeName, ...ScopeName[]] = [
  ...(['all', 'team', 'own', 'own or public'] as const),
  ...(['public of the team', 'by role'] as const),
]

const ENTRIES: readonly [Entry, ...Entry[]] = [
  ...(['anyone', 'optional', 'signed', 'signed', 'session', 'clerk', 'owned'] as const),
]

function some<T>(random: Random, percent: number, names: readonly T[]): readonly T[] {
  return names.filter(() => random.chance(percent))
}

function accessOf(random: Random, action: Action): Access {
  if (action === 'restore') return random.of(['all', 'all', 'flag', 'no'])
  return random.of(['all', 'all', 'all', 'all', 'no', 'clerk', 'flag'])
}

function onGetOf(random: Random): RouterRules['onGet'] {
  if (random.chance(60)) return undefined
  const populate = some(random, 40, ['kind', 'parent'])
  const select = random.of([undefined, ['-salary'], ['title', 'team', 'kind'], ['-info', '-title']])
  return { ...(select && { select }), ...(populate.length > 0 && { populate }) }
}

function routerOf(random: Random, at: number): RouterRules {
  const entry = random.of(ENTRIES)
  const [read, write] = [random.of(SCOPES), random.of(SCOPES)]
  const isOneScope = random.chance(50)
  const seen = VISIBLE.filter((name) => name !== '_id')
  const paths = ['title', 'salary', 'info.nick', 'team', 'public']
  const writable = ['title', 'salary', 'pin', 'team', 'owner', 'public']
  const access = Object.fromEntries(ACTIONS.map((one) => [one, accessOf(random, one)]))
  return {
    ...{ mount: `/r${at}`, entry, read, write: isOneScope ? read : write, isOneScope },
    fields: random.chance(45)
      ? undefined
      : { names: some(random, 60, seen), isForClerks: random.chance(30) },
    access: access as Record<Action, Access>,
    onGet: onGetOf(random),
    expandable: some(random, 60, ['kind', 'parent', 'parent.kind']),
    query: some(random, 70, paths),
    search: some(random, 60, ['title', 'salary', 'info.nick', 'kind.title', 'parent.salary']),
    sortable: some(random, 60, ['title', 'salary', 'team']),
    groups: some(random, 70, ['title', 'salary', 'team']),
    allowed: { create: some(random, 80, writable), update: some(random, 70, writable) },
    isCached: random.chance(40),
    isByCursor: random.chance(25),
    isKeyed: random.chance(50),
  }
}

export function programmeOf(random: Random): Programme {
  return {
    routers: Array.from({ length: 4 }, (_, at) => routerOf(random, at)),
    kinds: { scope: random.of(['all', 'team', 'team']), isGuarded: random.chance(50) },
    hasOutput: random.chance(40),
  }
}

/** The next version: one router has other rules, or the model another form. */
export function changedProgramme(random: Random, programme: Programme): Programme {
  const { routers, kinds, hasOutput } = programme
  if (random.chance(25)) return { ...programme, hasOutput: !hasOutput }
  if (random.chance(10))
    return { ...programme, kinds: { ...kinds, scope: kinds.scope === 'all' ? 'team' : 'all' } }
  const at = random.below(routers.length)
  const made = routerOf(random, at)
  const names = random.of([
    ['read', 'write', 'isOneScope'],
    ['fields'],
    ['onGet'],
    ['access'],
    ['query', 'search', 'expandable', 'sortable'],
    Object.keys(made),
  ] as const)
  const changed = Object.fromEntries(names.map((name) => [name, made[name as keyof RouterRules]]))
  return {
    ...programme,
    routers: routers.map((one) => (one.mount === made.mount ? { ...one, ...changed } : one)),
  }
}

/** Values that a record must have; a record is within a scope if it has all of one. */
export type Limits = Readonly<Record<string, unknown>>

/** Whom a scope is asked about: what the guards of the route have found. */
export interface Principal {
  readonly id: string
  readonly team: string
  readonly role: string
}

/** What a scope says: undefined for no limit. This is the code of whoever writes the app. */
export function limitsOf(
  name: ScopeName,
  who: Principal | undefined,
): readonly Limits[] | undefined {
  if (name === 'all' || (name === 'by role' && who?.role === 'clerk')) return undefined
  if (!who) return [{ public: true, team: 'a' }]
  if (name === 'team') return [{ team: who.team }]
  if (name === 'own' || name === 'by role') return [{ owner: who.id }]
  if (name === 'own or public') return [{ owner: who.id }, { public: true }]
  return [{ team: who.team, public: true }]
}

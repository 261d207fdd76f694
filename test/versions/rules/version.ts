/**
 * Random versions of two models that belong together: what refers to what and what then becomes of it, which records exclude
 * each other, and what a value may become. Each version has one or two rules more, fewer or other ones than the one before.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'

export type Presence = 'required' | 'optional'
export type OnDelete = 'restrict' | 'cascade' | 'unset'

/** A reference of an item, to an owner or to another item. */
export interface Reference {
  readonly name: string
  readonly to: 'owner' | 'item'
  readonly presence: Presence
  readonly onDelete: OnDelete | undefined
  /** Whether the field is a list of them. */
  readonly inList: boolean
}

export interface Exclusion {
  readonly equal: readonly string[]
  readonly where: Readonly<Record<string, readonly string[]>> | undefined
}

/** A version, as plain data. */
export interface Version {
  /** What the models are called; their collections stay. */
  readonly owner: string
  readonly item: string
  readonly references: readonly Reference[]
  /** What the fields are called by now. */
  readonly room: string
  readonly from: string
  readonly to: string
  readonly status: string
  /** What a record without a status has. */
  readonly byDefault: string | undefined
  readonly renamed: Readonly<Record<string, string>>
  readonly exclude: readonly Exclusion[]
  readonly transitions: Readonly<Record<string, readonly string[]>> | undefined
  readonly initial: readonly string[] | undefined
  readonly changes: boolean
  /** How many names there have been. */
  readonly names: number
}

export const STATES = ['a', 'b', 'c'] as const
const FIELDS = ['room', 'from', 'to', 'status'] as const

export function firstVersion(random: Random): Version {
  const bare: Version = {
    ...{ owner: 'Owner', item: 'Item', references: [], room: 'room', from: 'from', to: 'to' },
    ...{ status: 'status', byDefault: undefined, renamed: {}, exclude: [], names: 0 },
    ...{ transitions: undefined, initial: undefined, changes: random.chance(50) },
  }
  return [1, 2, 3].reduce((version) => nextVersion(random, version), addReference(random, bare))
}

export function nextVersion(random: Random, before: Version): Version {
  const next = random.of(STEPS)(random, before)
  return random.chance(40) ? random.of(STEPS)(random, next) : next
}

type Step = (random: Random, version: Version) => Version

const addReference: Step = (random, version) => {
  if (version.references.length > 2) return version
  const to = random.of(['owner', 'owner', 'item'] as const)
  const inList = random.chance(30)
  const presence = presenceOf(random, { to, inList })
  const onDelete = onDeleteOf(random, presence)
  const reference = { name: `r${version.names}`, to, inList, presence, onDelete }
  return { ...version, names: version.names + 1, references: [...version.references, reference] }
}

/** The first item could not refer to another one. */
function presenceOf(random: Random, { to, inList }: Pick<Reference, 'to' | 'inList'>): Presence {
  const isFree = to === 'item' || inList
  return isFree ? 'optional' : random.of(['required', 'optional', 'optional'] as const)
}

function onDeleteOf(random: Random, presence: Presence): OnDelete | undefined {
  const all = ['restrict', 'cascade', 'cascade', undefined] as const
  return random.of(presence === 'required' ? all : [...all, 'unset', 'unset'])
}

const changeReference: Step = (random, version) => {
  const [one] = version.references
  if (!one) return version
  const at = random.below(version.references.length)
  const references = version.references.map((reference, index) => {
    if (index !== at) return reference
    const presence = presenceOf(random, reference)
    return { ...reference, presence, onDelete: onDeleteOf(random, presence) }
  })
  return { ...version, references }
}

const dropReference: Step = (random, version) => {
  if (version.references.length < 2) return version
  const gone = version.references[random.below(version.references.length)]?.name ?? ''
  return {
    ...version,
    references: version.references.filter(({ name }) => name !== gone),
    renamed: Object.fromEntries(Object.entries(version.renamed).filter(([, now]) => now !== gone)),
    exclude: version.exclude.filter(({ equal }) => !equal.includes(gone)),
  }
}

/** Another name for a field: of a reference, too. */
const rename: Step = (random, version) => {
  const old = random.of([
    ...FIELDS.map((field) => version[field]),
    ...version.references.map(({ name }) => name),
  ] as [string])
  const now = `n${version.names}`
  const named = (name: string) => (name === old ? now : name)
  const former = Object.entries(version.renamed).map(([from, to]) => [from, named(to)])
  const fields = Object.fromEntries(FIELDS.map((field) => [field, named(version[field])]))
  return {
    ...version,
    ...fields,
    names: version.names + 1,
    references: version.references.map((one) => ({ ...one, name: named(one.name) })),
    exclude: version.exclude.map(({ equal, where }) => ({
      equal: equal.map(named),
      where:
        where && Object.fromEntries(Object.entries(where).map(([at, some]) => [named(at), some])),
    })),
    renamed: { ...Object.fromEntries(former), [old]: now },
  }
}

/** The model has another name; its collection stays. */
const renameModel: Step = (random, version) => {
  const which = random.of(['owner', 'item'] as const)
  return { ...version, names: version.names + 1, [which]: `Model${version.names}` }
}

const exclude: Step = (random, version) => {
  if (version.exclude.length > 0 && random.chance(50)) {
    return { ...version, exclude: version.exclude.slice(1) }
  }
  const owner = version.references.find(({ to, inList }) => to === 'owner' && !inList)
  const equal = random.of([[version.room], owner ? [owner.name] : [], [version.room]])
  const where = random.chance(50)
    ? { [version.status]: random.of([['a'], ['a', 'b'], ['c']]) }
    : undefined
  return { ...version, exclude: [...version.exclude, { equal, where }] }
}

const transitions: Step = (random, version) => {
  if (version.transitions && random.chance(40)) return { ...version, transitions: undefined }
  const some = STATES.map((one) => [one, STATES.filter((to) => to !== one && random.chance(50))])
  return { ...version, transitions: Object.fromEntries(some) }
}

const initial: Step = (random, version) => {
  if (version.initial) return { ...version, initial: undefined }
  const some = STATES.filter((one) => one === version.byDefault || random.chance(60))
  return { ...version, initial: some.length > 0 ? some : ['a'] }
}

const byDefault: Step = (random, version) => {
  const to =
    version.byDefault === undefined ? random.of((version.initial as [string]) ?? STATES) : undefined
  return { ...version, byDefault: to }
}

const changes: Step = (_, version) => ({ ...version, changes: !version.changes })

const STEPS: readonly [Step, ...Step[]] = [
  ...([addReference, changeReference, changeReference, dropReference] as const),
  ...([rename, rename, renameModel, exclude, exclude, exclude] as const),
  ...([transitions, transitions, initial, byDefault, changes] as const),
]

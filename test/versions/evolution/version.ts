/**
 * Random versions of one model: each is the one before with one or two changes, of every kind that the manual names.
 *
 * @module
 */

import * as z from 'zod'
import type { Random } from '../../../extras/contract/store/random.ts'

/** What a field holds. */
export type Kind = 'text' | 'int' | 'num' | 'flag' | 'date' | 'enum' | 'list' | 'obj' | 'mixed'
export type Presence = 'required' | 'optional' | 'default'

/** A field of a version. */
export interface Field {
  readonly kind: Kind
  readonly presence: Presence
  /** Of an enum its values, of an object its members. */
  readonly parts: readonly string[]
  readonly convert: boolean
}

/** A version of the model, as plain data. */
export interface Version {
  readonly fields: Readonly<Record<string, Field>>
  readonly renamed: Readonly<Record<string, string>>
  readonly unique: readonly (readonly string[])[]
  readonly indexes: readonly string[]
  readonly search: readonly string[]
  readonly hidden: readonly string[]
  readonly timestamps: boolean
  readonly output: boolean
  /** Every name that a field has had. */
  readonly used: readonly string[]
}

const KINDS = [
  ...(['text', 'text', 'text', 'int', 'int', 'num'] as const),
  ...(['flag', 'date', 'enum', 'list', 'obj', 'mixed'] as const),
] as const
const TEXTS = ['', 'a', 'B', 'ab', 'Élan', '42', '007', 'z z', '😀'] as const
const DAYS = [
  '1970-01-02T00:00:00.000Z',
  '2020-02-29T12:00:00.000Z',
  '2031-07-01T00:00:00.500Z',
] as const
const LETTERS = ['a', 'b', 'c', 'd'] as const
const NAMES = Array.from({ length: 60 }, (_, at) => `f${at}`)
/** What each may become; on PostgreSQL only what its column takes. */
const RETYPES: Readonly<Record<Kind, readonly Kind[]>> = {
  text: ['int', 'enum', 'list', 'mixed', 'obj'],
  int: ['text', 'num', 'mixed'],
  num: ['int', 'text'],
  flag: ['text'],
  date: [],
  enum: ['text', 'mixed'],
  list: ['text', 'mixed', 'obj'],
  obj: ['mixed', 'list'],
  mixed: ['text', 'list', 'obj', 'int'],
}
const COLUMNS: Readonly<Record<Kind, string>> = {
  ...{ text: 'text', enum: 'text', int: 'int', num: 'num', flag: 'flag', date: 'date' },
  ...{ list: 'json', obj: 'json', mixed: 'json' },
}
const SCALARS: readonly Kind[] = ['text', 'int', 'num', 'flag', 'date', 'enum']

/** A value of the field, as JSON. */
export function valueFor(random: Random, { kind, parts }: Field): unknown {
  switch (kind) {
    case 'text':
      return random.of(TEXTS)
    case 'int':
      return random.below(5) - 1
    case 'num':
      return random.of([0, -1.5, 2.25, 1e21, 3])
    case 'flag':
      return random.chance(50)
    case 'date':
      return random.of(DAYS)
    case 'enum':
      return random.of(parts as [string])
    case 'list':
      return random.list(3, () => random.of(TEXTS))
    case 'obj': {
      const some = parts.filter(() => random.chance(60))
      return Object.fromEntries(some.map((name) => [name, random.of(TEXTS)]))
    }
    case 'mixed':
      return random.chance(50) ? random.of(TEXTS) : random.below(5)
  }
}

/** The member of an object that has a default. */
export const DEFAULTED = 'd'

/** The default of a field that has one. */
export function defaultOf({ kind, parts }: Field): unknown {
  const values: Readonly<Record<Kind, unknown>> = {
    ...{ text: 'def', int: 7, num: 0.5, flag: false, date: DAYS[0], enum: parts[0] },
    ...{ list: ['def'], obj: parts.includes(DEFAULTED) ? { [DEFAULTED]: 'dd' } : {}, mixed: 9 },
  }
  return values[kind]
}

function bare({ kind, parts }: Field): z.ZodType {
  switch (kind) {
    case 'text':
      return z.string()
    case 'int':
      return z.int()
    case 'num':
      return z.number()
    case 'flag':
      return z.boolean()
    case 'date':
      return z.date()
    case 'enum':
      return z.enum(parts as [string])
    case 'list':
      return z.array(z.string())
    case 'obj':
      return z.object(
        Object.fromEntries(
          parts.map((name) => [
            name,
            name === DEFAULTED ? z.string().default('dd') : z.string().optional(),
          ]),
        ),
      )
    case 'mixed':
      return z.union([z.string(), z.number()])
  }
}

/** The zod schema of a field. */
export function schemaOf(field: Field): z.ZodType {
  const schema = bare(field)
  if (field.presence === 'required') return schema
  if (field.presence === 'optional') return schema.optional()
  const value = defaultOf(field)
  return schema.default(field.kind === 'date' ? new Date(String(value)) : (value as never))
}

/** What `convert` of a field makes of a value that does not fit. */
export function convertedTo({ kind, parts }: Field, stored: unknown): unknown {
  // Stores keep members in orders of their own.
  const isList = Array.isArray(stored) || typeof stored !== 'object' || stored === null
  const value = isList ? stored : Object.fromEntries(Object.entries(stored).sort())
  switch (kind) {
    case 'text':
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    case 'int':
      return Math.trunc(Number(value))
    case 'num':
      return Number(value)
    case 'enum':
      return parts[0]
    case 'list':
      return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
    case 'obj':
      return { [parts[0] ?? 'a']: JSON.stringify(value) }
    default:
      return typeof value === 'object' ? JSON.stringify(value) : value
  }
}

/** Whether a stored value is one that the field takes; of an object, with what it does not declare. */
export function fits(field: Field, value: unknown): boolean {
  if (field.kind === 'date') return typeof value === 'string' && DAYS.includes(value as never)
  return bare(field).safeParse(value).success
}

export const isScalar = ({ kind }: Field): boolean => SCALARS.includes(kind)

function newField(random: Random): Field {
  const kind = random.of(KINDS)
  const all = kind === 'obj' ? ['a', 'b', 'c', DEFAULTED] : [...LETTERS]
  const parts = kind === 'enum' || kind === 'obj' ? all.slice(0, 2 + random.below(3)) : []
  const presence = random.of(['required', 'optional', 'optional', 'default'] as const)
  return { kind, presence, parts, convert: false }
}

/** The first version. */
export function firstVersion(random: Random): Version {
  const count = 2 + random.below(3)
  const fields = Object.fromEntries(NAMES.slice(0, count).map((name) => [name, newField(random)]))
  const plain: Version = {
    ...{ fields, renamed: {}, unique: [], indexes: [], search: [], hidden: [] },
    ...{ timestamps: random.chance(50), output: false, used: Object.keys(fields) },
  }
  const how = { hasColumns: true }
  return { ...nextVersion(random, nextVersion(random, plain, how), how), renamed: {} }
}

/** The version after `before`. */
export function nextVersion(random: Random, before: Version, how: How): Version {
  const next = random.of(STEPS)(random, before, how) ?? before
  return random.chance(30) ? (random.of(STEPS)(random, next, how) ?? next) : next
}

/** Whether each field has a column, which keeps its type. */
export interface How {
  readonly hasColumns: boolean
}

type Step = (random: Random, version: Version, how: How) => Version | undefined

const some = (random: Random, { fields }: Version, of = (_: Field) => true): string | undefined => {
  const names = Object.keys(fields).filter((name) => of(fields[name] as Field))
  return names.length > 0 ? random.of(names as [string]) : undefined
}
/** A name that no field has now; one that was dropped is there with its column. */
const free = (random: Random, version: Version, how: How): string => {
  const { fields, renamed, used } = version
  const names = NAMES.slice(0, how.hasColumns ? 60 : 8)
  const all = names.filter((name) => !(name in fields) && !(name in renamed))
  return random.of(all.filter((name) => !how.hasColumns || !used.includes(name)) as [string])
}
const withField = (version: Version, name: string, field: Partial<Field>): Version => ({
  ...version,
  fields: { ...version.fields, [name]: { ...(version.fields[name] as Field), ...field } },
})
const toggled = <T>(list: readonly T[], one: T): readonly T[] =>
  list.includes(one) ? list.filter((other) => other !== one) : [...list, one]
/** The version with what names `name` naming `now` instead, or nothing. */
const under = (version: Version, name: string, now: string | undefined): Version => {
  const list = (names: readonly string[]) =>
    names.flatMap((one) => (one !== name ? [one] : now === undefined ? [] : [now]))
  return {
    ...version,
    unique: version.unique.flatMap((set) =>
      set.includes(name) && now === undefined ? [] : [list(set)],
    ),
    ...{
      indexes: list(version.indexes),
      search: list(version.search),
      hidden: list(version.hidden),
    },
  }
}

const isUnique = ({ unique }: Version, name: string) => unique.flat().includes(name)

const add: Step = (random, version, how) => {
  const name = free(random, version, how)
  if (name === undefined) return undefined
  const used = [...version.used, name]
  return withField({ ...version, used }, name, newField(random))
}
const drop: Step = (random, version) => {
  const name = some(random, version)
  if (name === undefined || Object.keys(version.fields).length < 2) return undefined
  const { [name]: _, ...fields } = version.fields
  const kept = Object.entries(version.renamed).filter(([, now]) => now !== name)
  return { ...under(version, name, undefined), fields, renamed: Object.fromEntries(kept) }
}
const rename: Step = (random, version, how) => {
  const name = some(random, version)
  const now = free(random, version, how)
  if (name === undefined || now === undefined) return undefined
  const { [name]: field, ...fields } = version.fields
  const former = Object.entries(version.renamed).map(([old, to]) => [old, to === name ? now : to])
  return {
    ...under(version, name, now),
    used: [...version.used, now],
    fields: { ...fields, [now]: field as Field },
    renamed: { ...Object.fromEntries(former), [name]: now },
  }
}
const presence: Step = (random, version) => {
  const name = some(random, version)
  const to = random.of(['required', 'optional', 'default'] as const)
  return name === undefined ? undefined : withField(version, name, { presence: to })
}
const retype: Step = (random, version, { hasColumns }) => {
  const name = some(random, version)
  if (name === undefined || isUnique(version, name)) return undefined
  const { kind: from } = version.fields[name] as Field
  const may = RETYPES[from].filter((one) => !hasColumns || COLUMNS[one] === COLUMNS[from])
  if (may.length === 0) return undefined
  const kind = random.of(may as [Kind])
  const parts = kind === 'enum' ? ['a', 'b'] : kind === 'obj' ? ['a', 'b'] : []
  const bareVersion = { ...version, search: version.search.filter((one) => one !== name) }
  const indexes = version.indexes.filter((one) => one !== name)
  return withField({ ...bareVersion, indexes }, name, { kind, parts, convert: random.chance(60) })
}
const resize: Step = (random, version) => {
  const name = some(random, version, ({ kind }) => kind === 'enum' || kind === 'obj')
  if (name === undefined) return undefined
  const { kind, parts } = version.fields[name] as Field
  const all = kind === 'obj' ? ['a', 'b', 'c', DEFAULTED] : [...LETTERS]
  const kept = all.filter((one) => parts.includes(one) !== random.chance(30))
  const now = kept.length > 0 ? kept : parts
  return withField(version, name, { parts: now, convert: random.chance(50) && kind === 'enum' })
}
const unique: Step = (random, version) => {
  if (version.unique.length > 0 && random.chance(50)) {
    return { ...version, unique: version.unique.slice(1) }
  }
  const isKey = ({ kind }: Field) => kind === 'text' || kind === 'int'
  const names = [some(random, version, isKey), some(random, version, isKey)]
  const set = [...new Set(names.filter((one) => one !== undefined))]
  return set.length === 0 ? undefined : { ...version, unique: [...version.unique, set] }
}
const index: Step = (random, version) => {
  const name = some(random, version, isScalar)
  return name === undefined ? undefined : { ...version, indexes: toggled(version.indexes, name) }
}
const search: Step = (random, version) => {
  const name = some(random, version, ({ kind }) => kind === 'text' || kind === 'list')
  return name === undefined ? undefined : { ...version, search: toggled(version.search, name) }
}
const hidden: Step = (random, version) => {
  const name = some(random, version)
  return name === undefined ? undefined : { ...version, hidden: toggled(version.hidden, name) }
}
const timestamps: Step = (_, version) => ({ ...version, timestamps: !version.timestamps })
const output: Step = (_, version) => ({ ...version, output: !version.output })

const STEPS: readonly [Step, ...Step[]] = [
  ...([add, add, add, drop, drop, rename, rename, rename] as const),
  ...([presence, presence, retype, retype, resize, resize] as const),
  ...([unique, unique, index, search, search, hidden, timestamps, output] as const),
]

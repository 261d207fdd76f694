/**
 * Random models and random routers over them, as data that can be printed.
 *
 * @module
 */

import { Random } from '../../../extras/contract/store/random.ts'
import { NAMES as MORE_NAMES } from './languages.ts'
import { anyRare, isClosed, isOrderedRare, type Rare } from './rare.ts'

/** What a field holds. */
export type Kind =
  | Scalar
  | 'strings'
  | 'numbers'
  | 'booleans'
  | 'dates'
  | 'refs'
  | Container
  | Mixed
type Scalar = 'string' | 'number' | 'int' | 'boolean' | 'date' | 'enum' | 'ref' | 'id'
type Container = 'object' | 'objects' | 'map' | 'loose'
type Mixed = 'unknown' | 'union' | 'texts' | Rare

/** How the schema is wrapped. */
export type Wrap = 'plain' | 'optional' | 'nullable' | 'nullish' | 'default'

/** A field. */
export interface FieldSpec {
  readonly name: string
  readonly kind: Kind
  readonly wrap: Wrap
  /** Of an object, or the objects of a list. */
  readonly inside: readonly FieldSpec[]
}

/** A model. */
export interface ModelSpec {
  readonly id: 'objectId' | 'uuid'
  readonly timestamps: boolean
  readonly fields: readonly FieldSpec[]
  readonly unique: readonly (readonly string[])[]
  readonly indexes: readonly (readonly string[])[]
  readonly hidden: readonly string[]
  readonly output: boolean
}

/** A router; `onGet` says from where it takes what it returns. */
export interface RouterSpec {
  readonly mount: string
  readonly of: 'thing' | 'other'
  readonly options: Readonly<Record<string, unknown>>
  readonly onGet: 'none' | 'client' | { readonly populate?: unknown; readonly select?: unknown }
  /** The field that the header `x-scope` gives the value of. */
  readonly scope?: string
}

/** Two models, the first of which refers to the second, and the routers over them. */
export interface WorldSpec {
  readonly thing: ModelSpec
  readonly other: ModelSpec
  readonly routers: readonly RouterSpec[]
}

/** A place of a field's values, as options and parameters name it. */
export interface Place {
  readonly path: string
  readonly field: FieldSpec
  /** Whether it holds one value of one type. */
  readonly ordered: boolean
}

const SCALARS = ['string', 'string', 'number', 'int', 'boolean', 'date', 'enum', 'ref'] as const
const LISTS = ['strings', 'numbers', 'booleans', 'dates', 'refs'] as const
const WRAPS = ['plain', 'optional', 'nullable', 'nullish', 'nullish', 'default'] as const
const OTHERS = ['object', 'objects', 'map', 'loose', 'unknown', 'union', 'texts'] as const
/** Names that some place in some store may take for something else. */
const NAMES = [
  ...[
    'name',
    'size',
    'doc',
    'rowid',
    'value',
    'key',
    'type',
    'order',
    'group',
    'select',
    'from',
    'é',
    'Zeit punkt',
  ],
  ...['length', "it's", 'a[0]', '7', 'id', 'k', 'v', 'x', 'y', 'z', 'NAME', '%', 'a-b'],
  ...MORE_NAMES,
] as const

/** A random world. */
export function worldSpec(random: Random): WorldSpec {
  const other = modelSpec(random, false)
  const thing = modelSpec(random, true)
  const mounts = ['/a', '/b', '/c'] as const
  const routers = mounts.map((mount) => routerSpec(random, mount, 'thing', thing, other))
  return {
    thing,
    other,
    routers: [...routers, routerSpec(random, '/others', 'other', other, other)],
  }
}

/** The places of a model that options may name, `_id` and the timestamps included. */
export function placesOf(model: ModelSpec): readonly Place[] {
  const own = (name: string, kind: Kind): FieldSpec => ({ name, kind, wrap: 'plain', inside: [] })
  const dates = model.timestamps ? ['createdAt', 'updatedAt'] : []
  const fields = [own('_id', 'id'), ...dates.map((name) => own(name, 'date')), ...model.fields]
  return fields.flatMap((field) => placesIn(field, ''))
}

function placesIn(field: FieldSpec, prefix: string, inList = false): Place[] {
  const path = `${prefix}${field.name}`
  const { kind, inside } = field
  if (kind === 'object' || kind === 'objects' || kind === 'loose') {
    return inside.flatMap((one) => placesIn(one, `${path}.`, inList || kind === 'objects'))
  }
  if (isClosed(kind)) return []
  return [{ path, field, ordered: !inList && isScalar(kind) }]
}

function isScalar(kind: Kind): boolean {
  return kind === 'id' || isOrderedRare(kind) || SCALARS.includes(kind as (typeof SCALARS)[number])
}

function modelSpec(random: Random, isThing: boolean): ModelSpec {
  const names = new Set(random.list(4, () => random.of(NAMES)))
  const fields: FieldSpec[] = [
    fieldSpec(random, 'text', 'string'),
    ...(isThing ? [fieldSpec(random, 'owner', 'ref')] : []),
    ...[...names].map((name) => fieldSpec(random, name)),
    fieldSpec(random, 'more', random.of(SCALARS)),
    fieldSpec(
      random,
      'other',
      random.chance(40) ? anyRare(random) : random.of([...LISTS, ...OTHERS]),
    ),
  ]
  const bare: ModelSpec = {
    id: random.of(['objectId', 'objectId', 'uuid']),
    timestamps: random.chance(50),
    fields,
    unique: [],
    indexes: [],
    hidden: random.chance(30) ? [random.of(['more', 'other'])] : [],
    output: random.chance(20),
  }
  const ordered = placesOf(bare).filter((place) => place.ordered && place.path !== '_id')
  const paths = ordered.map(({ path }) => path)
  const set = () => [...new Set(random.list(1, () => pick(random, paths))), pick(random, paths)]
  return {
    ...bare,
    unique: random.chance(60) ? random.list(3, () => [...new Set(set())]) : [],
    indexes: random.list(2, () => [...new Set(set())]),
  }
}

function innerKind(random: Random, depth: number): Kind {
  return depth > 0 ? anyKind(random) : random.of([...SCALARS, 'strings', 'unknown', 'map'])
}

/** `depth` is how many objects may be in one another. */
function fieldSpec(
  random: Random,
  name: string,
  kind: Kind = anyKind(random),
  depth: number = random.below(3),
): FieldSpec {
  const holds = kind === 'object' || kind === 'objects' || kind === 'loose'
  const inside = holds
    ? ['in', 'out'].map((one) => fieldSpec(random, one, innerKind(random, depth), depth - 1))
    : []
  return { name, kind, wrap: random.of(WRAPS), inside }
}

function anyKind(random: Random): Kind {
  if (random.chance(25)) return anyRare(random)
  return random.chance(50) ? random.of(SCALARS) : random.of([...LISTS, ...OTHERS])
}

/** One of `choices`, which may be empty only for who cannot get here. */
export function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[random.below(choices.length)] as T
}

function some<T>(random: Random, choices: readonly T[], percent: number): T[] {
  return choices.filter(() => random.chance(percent))
}

function routerSpec(
  random: Random,
  mount: string,
  of: RouterSpec['of'],
  model: ModelSpec,
  other: ModelSpec,
): RouterSpec {
  const isHidden = (path: string) =>
    model.hidden.some((name) => path === name || path.startsWith(`${name}.`))
  const places = placesOf(model).filter(({ path }) => !isHidden(path))
  const paths = places.map(({ path }) => path)
  const ordered = places.filter((place) => place.ordered).map(({ path }) => path)
  const texts = (all: readonly Place[]) =>
    all.filter(({ field }) => /^(strings?|isoDate|piped)$/.test(field.kind)).map(({ path }) => path)
  const through = of === 'thing' && !isHidden('owner') ? texts(placesOf(other)) : []
  const found = through.filter((path) => !other.hidden.some((name) => path.startsWith(name)))
  const names = model.fields.map(({ name }) => name)
  const scoped = places.filter(({ path, field }) => !path.includes('.') && isScalar(field.kind))
  const scope = random.chance(25) ? pick(random, scoped).path : undefined
  const maxLimit = random.of([2, 5, 100])
  const sign = () => (random.chance(50) ? '-' : '')
  const options = {
    // Brackets in a URL are refused as operators, and `select` is a parameter.
    query: some(random, paths, 70).filter((path) => path.indexOf('[') < 1 && path !== 'select'),
    ...(random.chance(40) && { filterableFields: some(random, paths, 70) }),
    ...(random.chance(40) && { sortableFields: some(random, ordered, 80) }),
    aggregates: aggregatesFor(random, places),
    search: [
      ...some(random, texts(places), 60),
      ...some(random, found, 50).map((one) => `owner.${one}`),
    ],
    ...(random.chance(50) && {
      orderBy: [...new Set(random.list(2, () => pick(random, ordered)))].map((one) => sign() + one),
    }),
    pagination: random.of(['offset', 'cursor']),
    countStrategy: random.of(['exact', 'exact', 'estimated', 'none']),
    maxLimit,
    defaultPageSize: random.of([1, 2]),
    ...(random.chance(20) && { maxPage: 3 }),
    ...(random.chance(70) ? { blockedFields: [] } : { allowedFields: some(random, names, 80) }),
    lean: random.chance(20),
    ...(random.chance(20) && { maxRelationMatches: 2 }),
    expandable: some(random, referencesIn(places, other), 80),
    exportLimit: random.of([0, 3, 1000]),
    ...(random.chance(10) && { legacyMode: true, allowRawRegex: false }),
  }
  return { mount, of, options, onGet: onGetSpec(random, model), ...(scope && { scope }) }
}

/** The references among `places`, and those inside the records of `other` that they lead to. */
function referencesIn(places: readonly Place[], other: ModelSpec): readonly string[] {
  const found = (all: readonly Place[]) =>
    all.filter(({ field }) => /^refs?$/.test(field.kind)).map(({ path }) => path)
  const own = found(places)
  const inner = found(placesOf(other)).filter(
    (path) => !other.hidden.some((name) => path.startsWith(name)),
  )
  return [...own, ...own.flatMap((path) => inner.map((one) => `${path}.${one}`))]
}

/** What groups are made of, of what may be a key or a number. */
function aggregatesFor(random: Random, places: readonly Place[]): Record<string, unknown> {
  const ordered = places.filter((place) => place.ordered && !COMPUTED.has(place.path))
  const keys = ordered.flatMap(({ path, field }) =>
    field.kind === 'date'
      ? [path, ...['year', 'month', 'day'].map((part) => `${path}:${part}`)]
      : [path],
  )
  const measured = ordered.filter(({ field }) => ['number', 'int', 'date'].includes(field.kind))
  return {
    by: some(random, keys, 70),
    of: some(
      random,
      measured.map(({ path }) => path),
      80,
    ),
  }
}

const COMPUTED: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'min', 'max'])

const ODD_NAMES = [
  '$a',
  '.text',
  'text.',
  'text..x',
  'a\u0000b',
  '-',
  '',
  'nmae',
  '__proto__',
  'text.x',
  'other.in',
  'other.a',
] as const

/** A select: names that the model has and such that it has not, staying or going. */
export function selectFor(random: Random, model: ModelSpec): string[] {
  const known = [
    ...placesOf(model).map(({ path }) => path),
    ...model.fields.map(({ name }) => name),
  ]
  const name = () => (random.chance(25) ? random.of(ODD_NAMES) : pick(random, known))
  const drops = random.chance(35)
  return random.list(3, () => (drops || random.chance(8) ? `-${name()}` : name()))
}

/** Fields that a client selects: mostly such as there are. */
export function namesFor(random: Random, model: ModelSpec): string[] {
  const known = [...placesOf(model).map(({ path }) => path), '_id']
  const name = () => (random.chance(4) ? random.of(ODD_NAMES) : pick(random, known))
  return [name(), ...random.list(2, name)]
}

/** References that a client expands: mostly such as the router lists. */
export function expandFor(random: Random, { options }: RouterSpec): string[] {
  const listed = (options.expandable ?? []) as readonly string[]
  return [random.chance(95) && listed.length > 0 ? pick(random, listed) : random.of(ODD_NAMES)]
}

/** What to fill in. */
export function populateFor(random: Random, model: ModelSpec): unknown {
  const references = placesOf(model).filter(({ field }) => /^refs?$/.test(field.kind))
  const path =
    random.chance(85) && references.length > 0
      ? pick(random, references).path
      : random.of(ODD_NAMES)
  return random.of<unknown>([
    path,
    [path],
    { path, select: selectFor(random, model) },
    [path, 'owner'],
  ])
}

function onGetSpec(random: Random, model: ModelSpec): RouterSpec['onGet'] {
  if (random.chance(40)) return 'none'
  if (random.chance(50)) return 'client'
  return {
    ...(random.chance(60) && { populate: populateFor(random, model) }),
    ...(random.chance(50) && { select: selectFor(random, model) }),
  }
}

/** The same seed makes the same world. */
export function randomFor(seed: number): Random {
  return new Random(seed)
}

/** Random records, filters, orders and changes for the workload, from a seed. */

import {
  all,
  any,
  type Filter,
  type Scalar,
  type SortKey,
} from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Change } from '../../../src/ports/store/store.ts'

/** A source of random choices; the same seed makes the same ones. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0 up to, not including, `end` (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }

  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  of<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0]
  }

  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }
}

type Make = (random: Random) => Scalar

const TEXTS = [
  '',
  'a',
  'B',
  'ab',
  'Élan',
  'éLAN',
  'ß',
  'Σς',
  'z z',
  'it\'s "q"',
  '100%_\\',
  '\uffff',
  '😀',
  'a\u0000b',
  'longer text',
] as const
const text: Make = (random) => random.of(TEXTS)
const number: Make = (random) =>
  random.chance(60)
    ? random.below(6) - 2
    : random.of([0.1, -2.5, 1e21, 1 / 3, 2 ** 53, 1e-7, -(2 ** 60)])
const truth: Make = (random) => random.chance(50)
const date: Make = (random) => new Date(random.below(5) * 86_400_000 - 86_400_001)
const id: Make = (random) => random.below(6).toString(16).padStart(24, 'a')
const key: Make = (random) => `k${random.below(40)}`

/** The scalar places of a person, through objects and lists too. */
const PLACES: Readonly<Record<string, Make>> = {
  name: text,
  age: number,
  score: number,
  member: truth,
  born: date,
  friend: id,
  friends: id,
  tags: text,
  marks: number,
  visits: date,
  'address.city': text,
  'address.since': date,
  'homes.city': text,
  'homes.rooms': number,
  email: key,
  any: (random) => random.of([text, number, truth])(random),
}

const SORTABLE = [
  'name',
  'age',
  'score',
  'member',
  'born',
  'friend',
  'address.city',
  'address.since',
  'email',
] as const
const SEARCHED = ['name', 'tags', 'address.city'] as const
const PIECES = [
  '',
  'A',
  'é',
  'ÉL',
  'Σ',
  'ß',
  '"',
  '%_',
  '\\',
  ' ',
  '\u0000',
  'LONGER',
  'b',
] as const

/** The fields of a record; each may be missing, most may be null. */
export function randomFields(random: Random): Fields {
  const home = () => partOf(random, { city: text(random), rooms: number(random) })
  const fields = {
    name: text(random),
    age: orNull(random, number),
    score: number(random),
    member: truth(random),
    born: date(random),
    friend: orNull(random, id),
    friends: random.list(3, () => id(random)),
    tags: random.list(3, () => text(random)),
    marks: random.list(3, () => number(random)),
    visits: random.list(2, () => date(random)),
    address: partOf(random, { city: orNull(random, text), since: date(random) }),
    homes: random.list(2, home),
    any: random.of<unknown>([
      text(random),
      number(random),
      truth(random),
      null,
      { b: [1, 'x'], a: null },
      // A list is a value too: none of its elements is one of the field.
      ['a', null],
      [0, true],
    ]),
    email: orNull(random, key),
    tenant: random.of(['t', 'u', null]),
    slug: orNull(random, key),
    sessions: random.list(3, () => session(random)),
  }
  return partOf(random, fields)
}

function session(random: Random): Fields {
  return { id: `s${random.below(3)}`, n: number(random) }
}

function partOf(random: Random, fields: Fields): Fields {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.filter(() => random.chance(75)))
}

function orNull(random: Random, make: Make): Scalar {
  return random.chance(25) ? null : make(random)
}

/** A filter of up to three levels. */
export function randomFilter(random: Random, depth = 0): Filter {
  if (depth < 2 && random.chance(35)) {
    const filters = random.list(3, () => randomFilter(random, depth + 1))
    return random.chance(50) ? all(filters) : any(filters)
  }
  if (random.chance(15)) {
    return { op: 'contains', field: random.of(SEARCHED), text: random.of(PIECES) }
  }
  const [field, make] = random.of(Object.entries(PLACES) as [[string, Make]])
  if (random.chance(25)) {
    const values = random.list(4, () => (random.chance(10) ? null : make(random)))
    return {
      op: random.of(['in', 'nin'] as const),
      field,
      values: field.startsWith('homes') ? values.filter((value) => value !== null) : values,
    }
  }
  const op = random.of(['eq', 'eq', 'eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const)
  return { op, field, value: random.chance(10) && !field.startsWith('homes') ? null : make(random) }
}

/** A total order. */
export function randomSort(random: Random): SortKey[] {
  const fields = new Set<string>([...random.list(2, () => random.of(SORTABLE)), '_id'])
  return [...fields].map((field) => ({ field, descending: random.chance(50) }))
}

/** A change in which no field appears twice. */
export function randomChange(random: Random, unique: boolean): Change {
  const { tenant, slug, email, sessions, marks, tags, age, score, address, ...free } =
    randomFields(random)
  const nested = random.chance(50) && Object.keys(address ?? {}).length > 0
  const inner = Object.entries((address ?? {}) as Fields).map(([name, value]) => [
    `address.${name}`,
    value,
  ])
  return {
    set: {
      ...partOf(random, free),
      ...(nested ? Object.fromEntries(inner) : address && { address }),
      ...(unique && partOf(random, { email, tenant, slug })),
    },
    unset: random.chance(20) ? ['visits.none', 'by'] : [],
    increment: partOf(random, {
      age: random.of([1, -1, 0.1, 2.5]),
      score: random.of([1, 10, -0.3]),
    }) as Record<string, number>,
    push: {
      ...(random.chance(30) && {
        tags: { value: text(random), ...(random.chance(50) && { cap: 1 + random.below(3) }) },
      }),
      ...(random.chance(30) && { marks: { value: number(random), cap: 2 } }),
    },
    ...(random.chance(30)
      ? { pull: { sessions: { key: 'id', value: `s${random.below(3)}` } } }
      : {}),
  }
}

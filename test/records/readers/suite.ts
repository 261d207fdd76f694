/**
 * For any set of fields that a reader may see: no response holds anything else, and none depends on anything else. Two
 * databases that differ only in what is not seen respond alike.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { createRouter, defineModel, type Fields, ref, type Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { type Answer, type Message, NOON, type Service, service } from '../service.ts'

const Company = defineModel('ReadersCompany', { fields: { title: z.string() } })
const fields = {
  name: z.string(),
  team: z.string(),
  salary: z.number(),
  level: z.number().default(1),
  joinedAt: z.date(),
  tags: z.array(z.string()),
  place: z.object({ city: z.string(), code: z.string() }),
  isActive: z.boolean(),
  boss: ref('ReadersPerson'),
  company: ref('ReadersCompany'),
}
const Person = defineModel('ReadersPerson', { fields, timestamps: true, hidden: ['place.code'] })
type Name = keyof typeof fields
const NAMES = Object.keys(fields) as Name[]
const READABLE = [...NAMES, 'createdAt', 'updatedAt'] as const
const SCALAR = ['name', 'team', 'salary', 'level', 'joinedAt', 'isActive'] as const
const PATHS = [...SCALAR, 'tags', 'place.city', 'boss', 'company', 'createdAt'] as const

/** A value that is seen is the same in both databases; of the others, every text has the name of its side. */
type Side = 'same' | 'left' | 'right'
/** Ids of new records are hexadecimal digits of any kind, which a number is not a part of. */
const UNSEEN = /left|right|(?<![\da-f])777\d{4}(?![\da-f])|19[78]\d-/
const PEOPLE = 6

const idOf = (at: number) => `${at}`.padStart(24, '0')
const companyOf = (at: number) => `${at}`.padStart(24, 'c')

function held(name: Name, at: number, side: Side): unknown {
  const turned = side === 'right' ? PEOPLE - at : at
  const number = (side === 'same' ? 3330000 : 7770000) + turned * 3
  switch (name) {
    case 'name':
      return `n${turned}-${side}`
    case 'team':
      return `t${turned % 2}-${side}`
    case 'salary':
      return number
    case 'level':
      return side === 'left' ? undefined : number
    case 'joinedAt':
      return new Date(Date.UTC(side === 'same' ? 2003 : 1970 + turned, 1, 1 + turned))
    case 'tags':
      return [`g${turned}-${side}`]
    case 'place':
      return { city: `c${turned}-${side}`, code: `k${turned}-left` }
    case 'isActive':
      return turned % 3 === 0
    case 'boss':
      return idOf(turned % 3)
    case 'company':
      return companyOf(side === 'same' ? at % 2 : 2 + (turned % 2))
  }
}

/** The people of one side, behind routers that page by number and by cursor. */
async function world(store: Store, side: Side, seen: ReadonlySet<string>): Promise<Service> {
  const served = service({ store, cache: memoryCache() })
  const { app, clock } = served
  for (const pagination of ['offset', 'cursor'] as const) {
    app.mount(
      `/${pagination}`,
      createRouter({
        model: Person,
        middlewares: [],
        allowedFields: NAMES,
        pagination,
        orderBy: ['team', '-salary'],
        query: PATHS,
        sortableFields: [...SCALAR, 'place.city', 'createdAt'],
        search: ['name', 'tags', 'place.city', 'boss.name', 'boss.team', 'company.title'],
        aggregates: {
          by: [...SCALAR, 'joinedAt:year', 'createdAt:day', 'place.city', 'boss'],
          of: ['salary', 'level', 'joinedAt', 'createdAt'],
        },
        cache: pagination === 'cursor',
        expandable: ['boss', 'company', 'boss.company', 'boss.boss'],
        exportLimit: 1000,
        fieldsFor: () => [...seen] as Name[],
        onGet: ({ query }) => ({
          ...(query.fields !== undefined && { select: String(query.fields) }),
          ...(query.fill !== undefined && {
            populate: [
              String(query.fill) as 'boss',
              { path: 'boss', select: String(query.fields ?? '') },
            ],
          }),
        }),
      }),
    )
  }
  const isTimed = seen.has('createdAt') || seen.has('updatedAt')
  if (side === 'right' && !isTimed) clock.at = NOON + 5000
  const companies = app.store.collection(Company)
  for (const at of [0, 1, 2, 3]) {
    await companies.insert({ _id: companyOf(at), title: `company ${at}` })
  }
  for (let at = 0; at < PEOPLE; at += 1) {
    const values = NAMES.map((name) => [name, held(name, at, seen.has(name) ? 'same' : side)])
    const record = Object.fromEntries(values.filter(([, value]) => value !== undefined))
    await app.store.collection(Person).insert({ _id: idOf(at), ...record } as never)
  }
  return served
}

interface Ask {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly json?: Fields
  /** The type of file, for a list as one. */
  readonly accept?: string
}

const at = fc.nat(PEOPLE - 1)
const side = fc.constantFrom<Side>('same', 'left', 'right')
const path = fc.constantFrom(...PATHS)
/** A value that some record of some side may have at `path`. */
const operand = (where: string) =>
  fc.tuple(at, side).map(([index, which]): string => {
    const value =
      where === 'createdAt'
        ? new Date(NOON)
        : held((where.split('.', 1)[0] ?? where) as Name, index, which)
    if (value instanceof Date) return value.toISOString()
    if (Array.isArray(value)) return String(value[0])
    return typeof value === 'object' ? String((value as Fields).city) : String(value ?? 1)
  })
const term = fc.constantFrom('same', 'left', 'right', 'n1', 't0-', 'c2', 'company 1', 'g3')
const sign = fc.constantFrom('', '-')
const parameters = fc.oneof(
  path.chain((name) => operand(name).map((value) => ({ [name]: value }))),
  path.chain((rangeField) => operand(rangeField).map((low) => ({ rangeField, range: `${low}-` }))),
  fc
    .tuple(path, fc.constantFrom('eq', 'ne', 'gt', 'lte'))
    .chain(([compareField, compareOperator]) =>
      operand(compareField).map((compareValue) => ({
        compareField,
        compareOperator,
        compareValue,
      })),
    ),
  term.map((s) => ({ s })),
  fc.tuple(sign, path).map(([before, name]) => ({ sort: before + name })),
)
const shown = fc.oneof(
  fc.constantFrom({ fill: 'boss' }, { fill: 'company' }, {}),
  fc.tuple(sign, path, path).map(([before, a, b]) => ({ fields: `${before}${a} ${before}${b}` })),
)
/** What a client chooses itself. */
const choice = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.tuple(path, path).map(([a, b]): object => ({ select: [...new Set([a, b])] })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('boss', 'company', 'boss.company', 'boss.boss')
      .map((name): object => ({ expand: [name] })),
  },
)
const inUrl = (chosen: object) =>
  Object.fromEntries(Object.entries(chosen).map(([name, list]) => [name, list.join(',')]))
const mount = fc.constantFrom('/offset', '/cursor')
const all = (parts: readonly object[]) => Object.assign({}, ...parts) as Record<string, string>

const key = fc.constantFrom(
  ...SCALAR,
  'joinedAt:year',
  'createdAt:day',
  'place.city',
  'boss',
  'tags',
)
const measured = fc.constantFrom('salary', 'level', 'joinedAt', 'createdAt', 'name')
const computed = fc.constantFrom('sum', 'avg', 'min', 'max')

const ask: fc.Arbitrary<Ask> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(mount, fc.array(key, { maxLength: 2 }), path, computed, measured, fc.boolean(), sign)
      .chain(([where, by, filtered, op, field, counts, before]) =>
        operand(filtered).map((value) => ({
          method: 'QUERY',
          path: where,
          query: {},
          json: {
            aggregate: counts ? { count: true } : { count: true, [op]: [field] },
            by,
            filter: { [filtered]: { gte: value } },
            sort: [`${before}${counts ? 'count' : `${op}.${field}`}`],
            limit: 4,
          },
        })),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(mount, fc.array(parameters, { maxLength: 3 }), shown, choice)
      .map(([where, given, view, chosen]) => ({
        method: 'GET',
        path: where,
        query: all([
          ...[...given, view, inUrl(chosen)],
          ...[where === '/offset' ? { page: '1' } : {}, { pageSize: '2' }],
        ]),
      })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        ...([
          mount,
          fc.array(path, { maxLength: 2 }),
          fc.array(path, { maxLength: 2 }),
          term,
        ] as const),
        ...([shown, choice, fc.boolean()] as const),
      )
      .chain(([where, filtered, sort, search, view, chosen, isEither]) =>
        fc.tuple(...filtered.map((name) => operand(name))).map((values) => ({
          method: 'QUERY',
          path: where,
          query: view,
          json: {
            filter:
              isEither && filtered.length === 2
                ? { or: filtered.map((name, index) => ({ [name]: { gte: values[index] } })) }
                : Object.fromEntries(filtered.map((name, index) => [name, { gte: values[index] }])),
            ...chosen,
            sort,
            ...(sort.length === 1 && { search }),
            pageSize: 3,
          },
        })),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(mount, at, shown, choice).map(([where, index, view, chosen]) => ({
      method: 'GET',
      path: `${where}/${idOf(index)}`,
      query: all([view, inUrl(chosen)]),
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(mount, parameters, choice, fc.constantFrom('text/csv', 'application/x-ndjson'))
      .map(([where, given, chosen, accept]) => ({
        method: 'GET',
        path: where,
        query: all([given, inUrl(chosen)]),
        accept,
      })),
  },

  {
    weight: 2,
    arbitrary: fc
      .tuple(mount, at, at, fc.constantFrom(...NAMES), shown)
      .map(([where, index, other, name, query]) => ({
        method: 'PATCH',
        path: `${where}/${idOf(index)}`,
        query,
        json: { [name]: held(name, other, 'same') ?? null },
      })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(mount, at).map(([where, index]) => ({
      method: 'POST',
      path: where,
      query: {},
      json: Object.fromEntries(NAMES.map((name) => [name, held(name, index, 'same')])),
    })),
  },
)

/** Registers the suite; `open` opens a new database, twice per run. */
export function readers(name: string, open: () => Store, cases: number): void {
  test(`${name}: no response holds or depends on a field that its reader may not see`, async () => {
    let served = 0
    const property = fc.asyncProperty(
      fc.subarray([...READABLE]),
      fc.array(ask, { minLength: 8, maxLength: 16 }),
      async (names, asks) => {
        const seen = new Set<string>(names)
        const worlds = [
          await world(open(), 'left', seen),
          await world(open(), 'right', seen),
        ] as const
        for (const one of asks) served += await compare(worlds, one, seen)
        for (const { app } of worlds) await app.close()
      },
    )
    await fc.assert(property, { numRuns: runs(cases) })
    // Refusals alone would say little.
    expect(served).toBeGreaterThan(0)
  })
}

/** Resolves to the number of successful responses, with those of the pages that follow. */
async function compare(
  [left, right]: readonly [Service, Service],
  one: Ask,
  seen: ReadonlySet<string>,
): Promise<number> {
  const [first, second] = [await answer(left, one), await answer(right, one)]
  const note = `${one.method} ${one.path} ${JSON.stringify([one.query, one.json, [...seen]])}`
  expect([second.status, comparable(one, second)], note).toEqual([
    first.status,
    comparable(one, first),
  ])
  expect(first.status, note).toBeLessThan(500)
  if (first.status >= 400) return 0
  expect(first.text, note).not.toMatch(UNSEEN)
  if (one.accept !== undefined) return 1
  for (const record of [first.body.data as Fields | Fields[]].flat()) {
    for (const name of Object.keys(record).filter((one) => !COMPUTED.includes(one))) {
      expect([...seen, '_id'], note).toContain(name.split(/[.:]/)[0])
    }
  }
  const { nextCursor } = (first.body.pagination ?? {}) as { nextCursor?: string }
  if (!nextCursor) return 1
  const next =
    one.method === 'QUERY'
      ? { ...one, json: { ...one.json, cursor: nextCursor } }
      : { ...one, query: { ...one.query, cursor: nextCursor } }
  return 1 + (await compare([left, right], next, seen))
}

async function answer(
  { app, send }: Service,
  { method, path: where, query, json, accept }: Ask,
): Promise<Answer> {
  const message: Message = { ...(json && { json }), ...(accept && { headers: { accept } }) }
  const answered = await send(method, `${where}?${new URLSearchParams(query)}`, message)
  // Its id is a new one on each side.
  if (method === 'POST') await app.store.collection(Person).delete(String(answered.record._id))
  return answered
}

/** What groups have besides what they are grouped by. */
const COMPUTED = ['count', 'sum', 'avg', 'min', 'max']

/** What must be alike: all but the ids of requests and of new records. */
function comparable({ method, accept }: Ask, { status, text, body, headers }: Answer): unknown {
  const { requestId: _, ...rest } = body
  if (accept !== undefined && status === 200) return text
  if (method !== 'POST') return [rest, headers.get('etag'), headers.get('x-cache')]
  const { _id, ...values } = (body.data ?? {}) as Fields
  return { ...rest, data: values }
}

/**
 * The doors of an app, each compared with what must be stored.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import type { App, Fields } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { checkRecords } from '../../../src/upkeep/check/check.ts'
import { isEqual, pathsOf, type Running, same, send } from './apps.ts'
import { type Field, type How, isScalar, type Version, valueFor } from './version.ts'
import { compare, type Doc, heldAt, matches, problemsOf, shownDoc } from './world.ts'

/** What must be stored, and what is known of it. */
export interface Stored {
  readonly random: Random
  readonly how: How
  readonly docs: ReadonlyMap<string, Doc>
  /** What the log has of each: what was written, without what backfills make of it. */
  readonly logged: ReadonlyMap<string, Doc>
  /** What was stored under a name that a backfill has moved; the log does not know that. */
  readonly moved: ReadonlySet<string>
  readonly gone: readonly string[]
}

/** Each door of an app shows what is stored. */
export async function checkDoors(one: Running, stored: Stored): Promise<void> {
  const { random } = stored
  const { version, app, model } = one
  const shown = new Map([...stored.docs].map(([id, doc]) => [id, shownDoc(version, doc)]))
  const all = Object.fromEntries(shown)
  const byId = (data: unknown) =>
    Object.fromEntries((data as Fields[]).map(({ _id, ...rest }) => [String(_id), rest]))
  same(byId((await send(app, 'GET', '/things')).data), all, 'list')
  for (const at of [1, 2])
    same(byId((await send(app, 'GET', '/kept')).data), all, `kept list ${at}`)
  for (const id of stored.docs.keys()) {
    const read = await send(app, 'GET', `/${random.of(['things', 'kept'])}/${id}`)
    same(read.data, { _id: id, ...shown.get(id) }, 'read')
    const headers = { 'if-none-match': read.etag ?? '' }
    same((await send(app, 'GET', `/things/${id}`, undefined, headers)).status, 304, '304')
  }
  const [gone] = stored.gone.slice(-1)
  if (gone) same((await send(app, 'GET', `/things/${gone}`)).status, 404, 'gone')
  const lines = (await send(app, 'GET', '/things', undefined, { accept: 'application/x-ndjson' }))
    .text
  same(
    byId(
      lines
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ),
    all,
    'NDJSON',
  )
  const { output: _, ...plain } = { ...version, output: false }
  const whole = { ...plain, output: false, hidden: [] }
  const found = JSON.parse(JSON.stringify(await app.store.collection(model).find()))
  const allWhole = Object.fromEntries(
    [...stored.docs].map(([id, doc]) => [id, shownDoc(whole, doc)]),
  )
  same(byId(found), allWhole, 'app.store')
  await checkLists(one, stored)
  await checkProblems(one, stored)
  await checkHistory(one, stored)
  for (let tries = 0; tries < 500 && !isEqual(Object.fromEntries(one.live), all); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 6))
  }
  same(Object.fromEntries(one.live), all, 'live')
}

/** The latest change of each field leads to what it holds. */
async function checkHistory({ version, app }: Running, stored: Stored): Promise<void> {
  const plain = Object.entries(version.fields).map(([name, field]) => {
    return [name, { ...field, convert: false, presence: 'optional' as const }] as const
  })
  const asStored = { ...version, output: false, fields: Object.fromEntries(plain) }
  for (const [id, logged] of stored.logged) {
    if (!stored.docs.has(id)) continue
    const { status, data } = await send(app, 'GET', `/things/${id}/history?pageSize=100`)
    same(status, 200, 'history')
    const shown = shownDoc({ ...version, output: false }, logged)
    const raw = shownDoc(asStored, logged)
    const changes = (data as Entry[]).toReversed().flatMap((one) => Object.entries(one.changes))
    const last = new Map(changes.map(([name, { to }]) => [name, to]))
    for (const name of ['extra', ...stored.moved]) last.delete(name)
    const others = [...last].filter(
      ([name, to]) => !isEqual(to, raw[name] ?? null) && !isEqual(to, shown[name] ?? null),
    )
    same(others, [], `history of ${id}`)
    const missing = Object.keys(raw).filter((name) => !last.has(name) && !stored.moved.has(name))
    const left = missing.filter((name) => version.fields[name]?.presence !== 'default')
    same(left, [], `history of ${id} lacks`)
  }
}

interface Entry {
  readonly changes: Readonly<Record<string, { readonly to: unknown }>>
}

type Held = ReadonlyMap<string, unknown>

async function checkLists({ version, app }: Running, stored: Stored): Promise<void> {
  for (const [name, field] of Object.entries(version.fields)) {
    if (version.hidden.includes(name)) continue
    const held = (path: string): Held =>
      new Map([...stored.docs].map(([id, doc]) => [id, heldAt(version, doc, path)]))
    for (const path of pathsOf(name, field)) {
      await checkFilter(app, { path, field, values: held(path) }, stored.random)
    }
    const values = held(name)
    const isMixed = [...values.values()].some((one) => one !== undefined && !hasType(field, one))
    if (!isScalar(field) || isMixed) continue
    await checkGroups(app, name, values)
    await checkOrders(app, name, values)
  }
  await checkSearch(version, app, stored)
}

const idsOf = (data: unknown) => (data as Fields[]).map(({ _id }) => String(_id))

async function checkFilter(
  app: App,
  { path, field, values }: { path: string; field: Field; values: Held },
  random: Random,
): Promise<void> {
  // No filter of a body reaches into objects, and those of a URL are equalities.
  const isInside = path.includes('.')
  const isText = isInside || field.kind === 'list'
  const value = () => valueFor(random, isText ? { ...field, kind: 'text' } : field)
  const [op, wanted] = isInside
    ? (['eq', value()] as const)
    : random.of<readonly [string, unknown]>([
        ['eq', value()],
        ['in', [value(), value()]],
        ['gte', value()],
        ['eq', null],
      ])
  const misfits = [...values.values()].filter((one) => one !== undefined && !hasType(field, one))
  if (op === 'gte' && (field.kind === 'mixed' || misfits.length > 0)) return
  // To SQLite, true is 1; what is no list where one is declared is nothing to PostgreSQL, and the reverse is a text.
  if (misfits.some((one) => typeof one === 'object' || typeof one === 'boolean')) return
  if (misfits.length > 0 && (field.kind === 'flag' || field.kind === 'list')) return
  const filter = { [path]: { [op]: wanted } }
  const { status, data } = isInside
    ? await send(app, 'GET', `/things?${new URLSearchParams({ [path]: String(wanted) })}`)
    : await send(app, 'QUERY', '/things', { filter })
  if (status !== 200) throw new Error(`${JSON.stringify(filter)}: ${JSON.stringify(data)}`)
  const expected = [...values].filter(([, one]) => matches(one, [op, wanted])).map(([id]) => id)
  same(idsOf(data).sort(), expected.sort(), `filter ${JSON.stringify(filter)}`)
}

/** In the order of the field, by pages too. */
async function checkOrders(app: App, name: string, values: Held): Promise<void> {
  const ids = [...values.keys()].sort()
  for (const [sign, way] of [
    ['', 1],
    ['-', -1],
  ] as const) {
    const sorted = ids.toSorted(
      (a, b) => way * compare(values.get(a), values.get(b)) || (a < b ? -1 : 1),
    )
    const { data } = await send(app, 'GET', `/things?sort=${sign}${name}`)
    same(idsOf(data), sorted, `sort ${sign}${name}`)
    same(await walk(app, `${sign}${name}`), sorted, `walk ${sign}${name}`)
  }
}

async function checkSearch(version: Version, app: App, stored: Stored): Promise<void> {
  const names = version.search.filter((name) => !version.hidden.includes(name))
  if (names.length === 0) return
  const held = (name: string) => [...stored.docs.values()].map((doc) => heldAt(version, doc, name))
  // A search finds values of the type that the field has.
  const isOther = (name: string) => (one: unknown) =>
    one !== undefined && !hasType(version.fields[name] as Field, one)
  if (names.some((name) => held(name).some(isOther(name)))) return
  const term = stored.random.of(['a', 'B', 'él', '00', '42', 'def', 'z z', '😀'])
  const { data } = await send(app, 'GET', `/things?s=${encodeURIComponent(term)}`)
  const has = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.some(has)
      : typeof value === 'string' && value.toLowerCase().includes(term.toLowerCase())
  const expected = [...stored.docs].filter(([, doc]) =>
    names.some((name) => has(heldAt(version, doc, name))),
  )
  same(
    (data as Fields[]).map(({ _id }) => String(_id)).sort(),
    expected.map(([id]) => id).sort(),
    `search ${term} in ${names}`,
  )
}

async function checkGroups(app: App, name: string, values: Held): Promise<void> {
  const { data, status } = await send(app, 'QUERY', '/things', {
    aggregate: { count: true },
    by: [name],
  })
  if (status !== 200) throw new Error(`groups by ${name}: ${JSON.stringify(data)}`)
  const counts = new Map<string, number>()
  for (const value of values.values()) {
    const text = JSON.stringify(value ?? null)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const got = (data as Fields[]).map((group) => [JSON.stringify(group[name] ?? null), group.count])
  same(Object.fromEntries(got), Object.fromEntries(counts), `groups by ${name}`)
}

async function walk(app: App, sort: string): Promise<string[]> {
  const ids: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 50; pages += 1) {
    const { status, data, pagination } = await send(
      app,
      'GET',
      `/pages?pageSize=2&sort=${sort}${cursor}`,
    )
    if (status !== 200) throw new Error(`walk: ${status} ${JSON.stringify(data)}`)
    ids.push(...(data as Fields[]).map(({ _id }) => String(_id)))
    const { nextCursor } = pagination as { nextCursor: string | null }
    if (nextCursor === null) return ids
    cursor = `&cursor=${nextCursor}`
  }
  throw new Error('a walk without an end')
}

async function checkProblems({ version, app, model }: Running, stored: Stored): Promise<void> {
  const { database } = hostOf(app.store)
  const { problems } = await checkRecords(database, [model])
  const isKept = (one: string) =>
    !(stored.how.hasColumns && one.startsWith('undeclared') && !one.includes('.'))
  const expected = [...stored.docs.values()]
    .flatMap((doc) => problemsOf(version, doc))
    .filter(isKept)
  const got = problems.flatMap(({ problem, field, count }) => {
    if (problem === 'duplicate') return []
    const kind = problem === 'type' || problem === 'invalid' ? 'misfit' : problem
    return Array.from({ length: count }, () => `${kind} ${field}`)
  })
  // A misfit is named by the path at which it is.
  const tops = (all: readonly string[]) =>
    all
      .map((one) => (one.startsWith('misfit') ? one.split('.')[0] : one))
      .filter(isKept as never)
      .sort()
  const distinct = (all: readonly unknown[]) => [...new Set(all)]
  same(distinct(tops(got)), distinct(tops(expected)), 'check')
}

/** Whether a value is of the type by which the field is compared. */
function hasType({ kind }: Field, value: unknown): boolean {
  if (kind === 'flag') return typeof value === 'boolean'
  if (kind === 'int' || kind === 'num') return typeof value === 'number'
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'obj') return typeof value === 'string'
  return typeof value === 'string' || (kind === 'mixed' && typeof value === 'number')
}

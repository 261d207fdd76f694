/**
 * Random lists, by GET and by QUERY, with every parameter.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import { scalarFor, scopeFor, textFor } from './asked.ts'
import type { Sent } from './send.ts'
import {
  expandFor,
  type ModelSpec,
  namesFor,
  type Place,
  pick,
  placesOf,
  populateFor,
  type RouterSpec,
  selectFor,
} from './spec.ts'
import { anyText, anything, idToken, jsonOf } from './values.ts'

/** A list by GET or QUERY, on cursor routers mostly walked on. */
export function list(random: Random, router: RouterSpec, model: ModelSpec): Sent[] {
  const headers = headersOf(random, router, model)
  const isQuery = random.chance(40)
  const more = shown(random, router, model, '&')
  const body = isQuery && random.chance(30) ? groupsBody : queryBody
  const ask = isQuery ? body(random, router, model) : parameters(random, router, model)
  const first = listRequest(router, headers, ask, more)
  const walks = router.options.pagination === 'cursor' && random.chance(70)
  if (!walks) return [first]
  const next = listRequest(router, headers, withCursor(ask), more)
  return [first, ...Array.from({ length: 1 + random.below(4) }, () => next)]
}

type Asked = string[] | Record<string, unknown>

function withCursor(ask: Asked): Asked {
  return Array.isArray(ask) ? [...ask, 'cursor=~cursor0~'] : { ...ask, cursor: '~cursor0~' }
}

function listRequest(
  router: RouterSpec,
  headers: Record<string, string>,
  ask: Asked,
  more: string,
): Sent {
  if (Array.isArray(ask)) {
    const path = `${router.mount}?${[...ask].join('&')}${more}`
    return { method: 'GET', path, headers }
  }
  return {
    method: 'QUERY',
    path: `${router.mount}?${more}`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: jsonOf(ask),
  }
}

/** A place that the option names, or now and then any. */
function nearly(random: Random, option: unknown, places: readonly Place[]): Place {
  const names = (option as readonly string[] | undefined) ?? []
  const listed = places.filter(({ path }) => names.includes(path))
  return random.chance(93) && listed.length > 0 ? pick(random, listed) : pick(random, places)
}

type Pair = readonly [name: string, value: string]

function parameters(random: Random, router: RouterSpec, model: ModelSpec): string[] {
  const { options } = router
  const places = placesOf(model)
  const filterable = options.filterableFields ?? options.query
  const sortable = options.sortableFields ?? options.query
  const pairs: Pair[] = [
    ...random.list(2, () => equality(random, nearly(random, options.query, places))).flat(),
    ...(random.chance(15) ? range(random, nearly(random, filterable, places)) : []),
    ...(random.chance(25) ? comparison(random, nearly(random, filterable, places)) : []),
    ...(random.chance(25) ? [['s', anyText(random)] as const] : []),
    ...(random.chance(50) ? [sortBy(random, nearly(random, sortable, places))] : []),
    ...paging(random, options.pagination === 'offset'),
    ...chosen(random, router, model),
  ]
  return pairs.map(
    ([name, value]) => `${encodeURIComponentSafely(name)}=${encodeURIComponentSafely(value)}`,
  )
}

/** What the client selects and expands. */
function chosen(random: Random, router: RouterSpec, model: ModelSpec): Pair[] {
  return [
    ...(random.chance(15) ? [['select', namesFor(random, model).join(',')] as const] : []),
    ...(random.chance(10) ? [['expand', expandFor(random, router).join(',')] as const] : []),
  ]
}

function equality(random: Random, { path, field }: Place): Pair[] {
  const values = random.chance(25) ? 2 : 1
  return Array.from({ length: values }, () => [
    path,
    random.chance(8) ? '' : textFor(random, field),
  ])
}

function range(random: Random, { path, field }: Place): Pair[] {
  const [low, high] = [textFor(random, field), textFor(random, field)]
  const join = random.of(['-', '-', '..'])
  const bounds = random.of([`${low}${join}${high}`, `${low}${join}`, `${join}${high}`])
  return [
    ['rangeField', path],
    ['range', bounds],
  ]
}

function comparison(random: Random, { path, field }: Place): Pair[] {
  return [
    ['compareField', path],
    ['compareOperator', random.of(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', '', 'x'])],
    ['compareValue', textFor(random, field)],
  ]
}

function sortBy(random: Random, { path }: Place): Pair {
  return ['sort', `${random.chance(50) ? '-' : ''}${path}`]
}

function paging(random: Random, isOffset: boolean): Pair[] {
  const pages = isOffset && random.chance(50)
  const sizes = random.of(['1', '2', '3', '100', '0', '-1', 'x'])
  return [
    ...(pages ? [['page', random.of(['1', '1', '2', '3', '0', 'x', ''])] as const] : []),
    ...(random.chance(40) ? [['pageSize', sizes] as const] : []),
    ...(random.chance(3) ? [[random.of(['cursor', 'page']), random.of(['x', '1'])] as const] : []),
  ]
}

/** Groups instead of records. Only whole numbers are added: of others, what cancels out is not the same everywhere. */
function groupsBody(
  random: Random,
  { options }: RouterSpec,
  model: ModelSpec,
): Record<string, unknown> {
  const places = placesOf(model)
  const { by = [], of = [] } = options.aggregates as Record<string, readonly string[]>
  const filterable = options.filterableFields ?? options.query
  const place = nearly(random, filterable, places)
  const kindOf = (name: string) => places.find(({ path }) => path === name)?.field.kind
  const aggregate: Record<string, string[]> = {}
  for (const name of random.list(3, () => (of.length > 0 ? pick(random, of) : 'none'))) {
    const op =
      kindOf(name) === 'int' ? random.of(['sum', 'avg', 'min', 'max']) : random.of(['min', 'max'])
    aggregate[op] = [...(aggregate[op] ?? []), name]
  }
  const keys = random.list(3, () =>
    random.chance(97) && by.length > 0 ? pick(random, by) : anyText(random),
  )
  const columns = [
    'count',
    ...keys,
    ...Object.entries(aggregate).flatMap(([op, names]) => names.map((name) => `${op}.${name}`)),
  ]
  return {
    aggregate: { count: true, ...aggregate },
    by: keys,
    ...(random.chance(40) && { filter: { [place.path]: condition(random, place) } }),
    ...(random.chance(10) && { search: anyText(random) }),
    ...(random.chance(60) && {
      sort: random.list(2, () => `${random.chance(50) ? '-' : ''}${pick(random, columns)}`),
    }),
    ...(random.chance(30) && { limit: 1 + random.below(4) }),
    ...(random.chance(2) && { page: 1 }),
  }
}

function queryBody(random: Random, router: RouterSpec, model: ModelSpec): Record<string, unknown> {
  const { options } = router
  const places = placesOf(model)
  const filterable = options.filterableFields ?? options.query
  const filter = filterFor(random, filterable, places)
  const sortable = options.sortableFields ?? options.query
  const sort = random.list(5, () => {
    return `${random.chance(50) ? '-' : ''}${nearly(random, sortable, places).path}`
  })
  const isOffset = options.pagination === 'offset'
  return {
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(random.chance(15) && { select: namesFor(random, model) }),
    ...(random.chance(10) && { expand: expandFor(random, router) }),
    ...(random.chance(20) && { search: anyText(random) }),
    ...(random.chance(60) && { sort: random.chance(50) ? sort : sort[0] }),
    ...(isOffset && random.chance(30) && { page: 1 + random.below(3) }),
    ...(random.chance(40) && { pageSize: 1 + random.below(4) }),
    ...(isOffset && random.chance(20) && { limit: 1 + random.below(4) }),
    ...(random.chance(2) && { [anyText(random)]: 1 }),
  }
}

/** Conditions, now and then with alternatives. */
function filterFor(
  random: Random,
  filterable: unknown,
  places: readonly Place[],
): Record<string, unknown> {
  const conditions = (most: number) =>
    Object.fromEntries(
      random.list(most, () => {
        const place = nearly(random, filterable, places)
        return [place.path, condition(random, place)]
      }),
    )
  const or = [conditions(2), ...random.list(3, () => conditions(2))]
  return { ...conditions(3), ...(random.chance(30) && { or }) }
}

/** What a filter demands of a place. */
export function condition(random: Random, { field }: Place): unknown {
  const value = () => scalarFor(random, field)
  const values = () => [value(), ...random.list(2, value)]
  const op = random.of(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'])
  const operand = op === 'in' || op === 'nin' ? values() : value()
  return random.of<unknown>([
    value(),
    values(),
    { [op]: operand },
    { [op]: operand, [random.of(['gte', 'lt', 'ne'])]: value() },
    random.chance(80) ? { [op]: operand } : anything(random),
  ])
}

/** How ids of a router's model are told. */
export function tokenOf({ of }: RouterSpec): 'id' | 'other' {
  return of === 'thing' ? 'id' : 'other'
}

/** The header that a scoped router reads, or none. */
export function headersOf(
  random: Random,
  router: RouterSpec,
  model: ModelSpec,
): Record<string, string> {
  const place = placesOf(model).find(({ path }) => path === router.scope)
  const accept = random.chance(8) && { accept: random.of(['text/csv', 'application/x-ndjson']) }
  if (!place || random.chance(40)) return { ...accept }
  const own = place.field.kind === 'id'
  const value = own ? idToken(random, tokenOf(router)) : scopeFor(random, place.field)
  return { 'x-scope': encodeURIComponentSafely(value), ...accept }
}

/** What the client chooses for `onGet`, where the router takes it. */
export function shown(
  random: Random,
  router: RouterSpec,
  model: ModelSpec,
  mark: '?' | '&',
): string {
  if (router.onGet !== 'client' || random.chance(40)) return ''
  const choice = {
    ...(random.chance(70) && { select: selectFor(random, model) }),
    ...(random.chance(50) && { populate: populateFor(random, model) }),
  }
  return `${mark}~show=${encodeURIComponentSafely(JSON.stringify(choice))}`
}

function encodeURIComponentSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

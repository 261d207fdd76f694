/**
 * The requests that both services get: every kind at least once by hand, and many more made at random of the same parts.
 *
 * @module
 */

import { randomFrom } from '../random.ts'
/** A request. */
export interface Pair {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** As it is sent. */
  readonly body?: string
}

const hex = (at: number): string => at.toString(16).padStart(24, '0')

/** Ids of stored items; the last one is of none. */
export const IDS: readonly string[] = Array.from({ length: 13 }, (_, at) => hex(0xa00 + at))
/** Ids of stored makers: more than a list shows at once. */
export const MAKERS: readonly string[] = Array.from({ length: 110 }, (_, at) => hex(0xb00 + at))
/** An id that a client chooses for a new item. */
export const CHOSEN: string = hex(0xc00)

/** The query strings of lists, one per meaning. */
const LISTS = [
  '',
  'page=1',
  'page=2&pageSize=5',
  'page=0',
  'page=-1',
  'page=-1&pageSize=2',
  'page=x',
  'page=2.9&pageSize=4',
  'page=9&pageSize=5',
  'page=1&pageSize=0',
  'page=1&pageSize=-2',
  'page=1&pageSize=x',
  'page=1&pageSize=100000',
  'pageSize=2',
  'name=anvil',
  'name=Anvil',
  'name=',
  'name=anvil&name=bolt',
  'name=anvil&status=live',
  'price=7',
  'price=007',
  'price=7.0',
  'price=',
  'price=cheap',
  'price=0x10',
  'price=1&price=7',
  'price[$gt]=5',
  'price[$ne]=7',
  'name[$regex]=^a',
  'name[x]=1',
  'active=true',
  'active=false',
  'active=1',
  'active=yes',
  'active=maybe',
  'status=live',
  'status=gone',
  'tags=red',
  'tags=red&tags=new',
  'seen=2024-01-15',
  'seen=2024-01-15T00:00:00.000Z',
  'seen=January 15, 2024',
  'seen=never',
  `maker=${MAKERS[0]}`,
  `maker=${MAKERS[0]}&maker=${MAKERS[1]}`,
  'maker=acme',
  'secret=hush',
  'stock=0',
  'colour=red',
  'sort=price',
  'sort=-name',
  's=anvil',
  'search=anvil',
  'rangeField=price&range=1-9',
  'compareField=price&compareOperator=gt&compareValue=5',
  'cursor=abc',
  'limit=2',
  'page=1&name=anvil',
  'page=1&pageSize=3&status=live',
  'page=1&price=cheap',
]

const AT = [
  IDS[0],
  IDS[1],
  IDS[5],
  IDS.at(-1),
  'x',
  '7',
  'abcdefghijkl',
  `${IDS[0]}0`,
  IDS[0]?.toUpperCase(),
  '%E0%A4%A',
].filter((id) => id !== undefined)

/** Members of bodies, each with values that are right, that Mongoose casts, and that nothing can be made of. */
const MEMBERS: Readonly<Record<string, readonly unknown[]>> = {
  name: ['chisel', ' chisel ', '', 7, true, null, ['a'], { a: 1 }],
  code: ['N-1', 'A-1', null, 12, ''],
  price: [3, 0, -1, '4', ' 4 ', 'cheap', '', null, true, [5], 1e21],
  stock: [1, null, '2', false],
  active: [true, false, 'true', 'no', 1, 0, 'perhaps', null],
  status: ['draft', 'gone', null, 7],
  tags: [['a', 'b'], [], 'a', [1, 2], null, [['a']], [null]],
  size: [{ w: 1 }, { w: 1, h: 2 }, { w: '3' }, { w: 1, d: 9 }, null, 5, [{ w: 1 }], {}],
  seen: [
    '2024-05-05',
    '2024-05-05T10:00:00.000Z',
    'May 5, 2024',
    1_714_900_000_000,
    'never',
    '',
    null,
  ],
  maker: [MAKERS[1], { _id: MAKERS[1], name: 'Acme' }, 'acme', null, ''],
  secret: ['psst', null],
  colour: ['red', null],
  _id: [CHOSEN, IDS[1], 'x'],
  __v: [7],
  $set: [{ name: 'set' }],
  $inc: [{ price: 1 }],
  'size.w': [42],
}

const RAW = ['', '{', '[]', 'null', '7', '"text"', '{}', '[{"name":"one"},{"name":"two"}]']

/** All hand-written requests. */
export function written(): Pair[] {
  const lists = LISTS.map((query) => get(`/items${query && `?${query}`}`))
  const reads = AT.map((id) => get(`/items/${id}`))
  const posts = [
    ...Object.entries(MEMBERS).flatMap(([name, values]) =>
      values.map((value) => send('POST', '/items', { name: 'chisel', [name]: value })),
    ),
    send('POST', '/items', { price: 3 }),
    send('POST', '/items', { colour: 'red' }),
    ...RAW.map((text) => raw('POST', '/items', text)),
  ]
  const patches = [
    ...Object.entries(MEMBERS).flatMap(([name, values]) =>
      values.map((value) => send('PATCH', `/items/${IDS[0]}`, { [name]: value })),
    ),
    ...RAW.map((text) => raw('PATCH', `/items/${IDS[0]}`, text)),
    ...AT.map((id) => send('PATCH', `/items/${id}`, { price: 5 })),
    send('PATCH', `/items/${IDS.at(-1)}`, { price: -1 }),
  ]
  return [...lists, ...reads, ...posts, ...patches, ...removals(), ...odd()]
}

function removals(): Pair[] {
  return AT.map((id) => bare('DELETE', `/items/${id}`))
}

/** Methods, paths and headers. */
function odd(): Pair[] {
  const body = JSON.stringify({ name: 'chisel' })
  const typed = (type: string, text: string): Pair => ({
    method: 'POST',
    path: '/items',
    headers: { 'Content-Type': type },
    body: text,
  })
  return [
    send('PUT', `/items/${IDS[0]}`, { price: 5 }),
    bare('HEAD', '/items'),
    bare('HEAD', `/items/${IDS[0]}`),
    bare('OPTIONS', '/items'),
    bare('OPTIONS', `/items/${IDS[0]}`),
    send('QUERY', '/items', { filter: { name: 'anvil' } }),
    bare('DELETE', '/items'),
    send('POST', `/items/${IDS[0]}`, { name: 'x' }),
    get('/nowhere'),
    get('/Items'),
    get('/items/'),
    get(`/items/${IDS[0]}/`),
    get(`/items/${IDS[0]}/more`),
    get('/makers'),
    get(`/makers/${MAKERS[0]}`),
    get('/makers?page=1&pageSize=200'),
    send('POST', '/makers', { name: 'New' }),
    send('PATCH', `/makers/${MAKERS[0]}`, { name: 'Renamed' }),
    bare('DELETE', `/makers/${MAKERS[1]}`),
    typed('text/plain', body),
    typed('application/x-www-form-urlencoded', 'name=chisel'),
    typed('application/json; charset=utf-8', body),
    typed('application/json; charset=utf-16', body),
    typed('application/json', `{"name":"${'x'.repeat(200_000)}"}`),
  ]
}

/** `count` more, made of the same parts; a seed gives the same ones each time. */
export function random(count: number, seed: number): Pair[] {
  const next = randomFrom(seed)
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(next() * values.length)] as Value
  const queries = LISTS.filter((query) => query !== '')
  const names = Object.keys(MEMBERS)
  const one = (): Pair => {
    const kind = next()
    if (kind < 0.4) return get(`/items?${distinct([pick(queries), pick(queries), pick(queries)])}`)
    if (kind < 0.5) return get(`/items/${pick(AT)}`)
    if (kind < 0.55) return bare('DELETE', `/items/${pick(AT)}`)
    const first = pick(names)
    const chosen = [first, pick(names.filter((name) => !name.startsWith(first.slice(0, 4))))]
    const body = Object.fromEntries(chosen.map((name) => [name, pick(MEMBERS[name] ?? [])]))
    return kind < 0.8
      ? send('POST', '/items', { name: 'random', ...body })
      : send('PATCH', `/items/${pick(AT)}`, body)
  }
  return Array.from({ length: count }, one)
}

/** What one side alone reads, or each in its own way: one has more records than the other. */
const READ_APART = /rangeField|compareField|^s=|search=|=$/

/**
 * Query strings as one, each parameter from the first that has it. Pages, and lists of exactly these tags, go together with
 * what both sides read alike: what they have of other lists would need a model of both.
 */
function distinct(queries: readonly string[]): string {
  const paged = queries.some((query) => query.includes('page'))
  const exact = queries.includes('tags=red&tags=new')
  const seen = new Set<string>()
  const parts = queries.filter((query) => {
    if (paged && /tags=/.test(query)) return false
    if ((paged || exact) && READ_APART.test(query)) return false
    const names = query.split('&').map((part) => part.replace(/[=[].*/, ''))
    const fresh = names.every((name) => !seen.has(name))
    if (fresh) for (const name of names) seen.add(name)
    return fresh
  })
  return parts.join('&')
}

function get(path: string): Pair {
  return bare('GET', path)
}

function bare(method: string, path: string): Pair {
  return { method, path, headers: {} }
}

function send(method: string, path: string, body: object): Pair {
  return raw(method, path, JSON.stringify(body))
}

function raw(method: string, path: string, body: string): Pair {
  return { method, path, headers: { 'Content-Type': 'application/json' }, body }
}

/**
 * Hostile requests: the oracle's questions bent in every way, random writes, and nonsense in paths, parameters,
 * headers and bodies.
 *
 * @module
 */

import fc from 'fast-check'
import { DATES, NUMBERS, PLACES, SETTINGS, TEXTS } from '../oracle/library.ts'
import { asGet, asQuery, questions } from '../oracle/question.ts'
import { NOTES, type World, WRITABLE } from './world.ts'

/** Stands for the id of a note that Ann has when the request is sent. */
export const LIVE = 'LIVE-ID'

/** A request in parts, as it is shown when it breaks something. */
export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const odd = fc.oneof(
  fc.constantFrom(
    ...TEXTS,
    '$ne',
    '$where',
    '__proto__',
    'constructor',
    'prototype',
    '../..',
    '%00',
    '%zz',
    "' OR 1=1 --",
    '{"$gt":""}',
    '[]',
    'NaN',
    '-1',
    '1e309',
    '9007199254740993',
    '0x10',
    'undefined',
    '2024-02-30',
    'a'.repeat(3000),
    '\ud800',
    '\u2028',
    ';',
    '&=#?',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

const field = fc.oneof(
  fc.constantFrom(...WRITABLE, ...PLACES.map(({ path }) => path)),
  fc.constantFrom('secret', 'locked', 'barcode', 'author.password', 'about.secret', 'place.city'),
  fc.constantFrom('_id', '__v', 'createdAt', 'updatedAt', '$set', 'a.b', 'stops.km', 'free.x'),
  odd,
)
const parameter = fc.constantFrom(
  's',
  'search',
  'sort',
  'page',
  'pageSize',
  'cursor',
  'range',
  'rangeField',
  'compareField',
  'compareOperator',
  'compareValue',
  'limit',
  'filter',
)
const suffix = fc.constantFrom('', '', '', '', '[]', '[$ne]', '[0]', '[a][b]', '.x', '[')
const scalar: fc.Arbitrary<unknown> = fc.oneof(
  odd,
  fc.constantFrom(...NUMBERS, ...DATES, true, false, null, -0, 13),
  fc.integer(),
  fc.double({ noNaN: true }),
)

const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('tree'), { maxLength: 4 }) },
    { weight: 2, arbitrary: entries(tie('tree')) },
  ),
}))

/** An object with own keys, `__proto__` among them. */
function entries(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const key = fc.oneof(
    field,
    fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'city', 'km', 'x', '$or'),
  )
  return fc.array(fc.tuple(key, value), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs))
}

const deep = fc
  .integer({ min: 2, max: 3000 })
  .chain((depth) =>
    fc.constantFrom(
      `{"any":${'['.repeat(depth)}${']'.repeat(depth)}}`,
      `{"filter":${'{"eq":'.repeat(depth)}1${'}'.repeat(depth)}}`,
      `{"place":${'{"city":'.repeat(depth)}`,
    ),
  )

/** A note as a client may write it. */
const rightNote = fc.record(
  {
    title: fc.oneof(fc.constantFrom('a', 'b', 'c'), odd),
    code: fc.constantFrom('ann 2', 'bob 1', 'x', 'y', 'z'),
    size: fc.constantFrom<unknown>(1, 2, 13, '13', null),
    done: fc.constantFrom<unknown>(true, 'yes', null),
    at: fc.constantFrom<unknown>('2024-01-01', 0, null),
    kind: fc.constantFrom<unknown>('cup', null),
    tags: fc.array(odd, { maxLength: 3 }),
    place: fc.record({ city: odd, row: fc.integer(), $x: tree }, { requiredKeys: ['city'] }),
    stops: fc.array(fc.record({ km: fc.integer(), name: odd, __v: tree }), { maxLength: 2 }),
    free: entries(tree),
    any: tree,
    owner: fc.constantFrom('bob', 'ann'),
    locked: fc.constant('changed'),
    secret: fc.constant('mine'),
  },
  { requiredKeys: ['title'] },
)

/** One that is wrong here and there. */
const note: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: rightNote },
  fc.tuple(rightNote, entries(tree)).map(([right, wrong]) => ({ ...right, ...(wrong as object) })),
)

const contentType = fc.oneof(
  { weight: 12, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'application/vnd.api+json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    ';',
    '',
  ),
)
const otherHeader = fc.tuple(
  fc.constantFrom(
    'x-request-id',
    'if-match',
    'if-none-match',
    'if-modified-since',
    'accept',
    'authorization',
    'content-encoding',
    'content-length',
    'range',
    'origin',
    'x-http-method-override',
    'x-forwarded-for',
    'x-img-optimizations',
  ),
  fc.oneof(
    fc.constantFrom('*', '"x"', 'W/"x"', 'gzip', '0', '-1', '99999999999', 'bytes=0-', 'DELETE'),
    fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  ),
)

/** Random requests to `world`, each another. */
export function requests(world: World): fc.Arbitrary<Sent> {
  const id = fc.oneof(
    { weight: 2, arbitrary: fc.constant(LIVE) },
    fc.constantFrom(...world.bobs),
    fc.constantFrom(...world.bobs.map((one) => one.toUpperCase()), 'f'.repeat(24), '0'.repeat(23)),
    odd.map(encodeURIComponentSafely),
  )
  const tail = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    { weight: 8, arbitrary: id.map((one) => `/${one}`) },
    fc.constantFrom('/', '//', '/.', '/..', '/%2e%2e', '/%2F', '/%', '/\\', '/%C0%AF'),
    id.map((one) => `/${one}/`),
    id.map((one) => `//${one}`),
    fc.tuple(id, odd).map(([one, more]) => `/${one}/${encodeURIComponentSafely(more)}`),
  )
  const asked = Object.values(SETTINGS).map((setting) =>
    questions(world, setting).map((question) => ({
      get: asGet(question, setting) ?? '',
      query: asQuery(question) ?? {},
    })),
  )
  const pair = fc
    .tuple(fc.oneof(field, parameter), suffix, fc.oneof(odd, field))
    .map(
      ([name, end, value]) =>
        `${encodeURIComponentSafely(name)}${end}=${encodeURIComponentSafely(value)}`,
    )
  const pairs = fc
    .array(fc.oneof({ weight: 5, arbitrary: pair }, odd), { maxLength: 4 })
    .map((list) => list.join('&'))
  const search = fc.oneof(fc.constant(''), ...asked.map((one) => one.map(({ get }) => get)), pairs)
  const both = fc.tuple(search, pairs).map(([right, wrong]) => `${right}&${wrong}`)
  const json = fc.oneof(
    { weight: 8, arbitrary: note },
    entries(tree),
    tree,
    ...asked.map((one) => one.map(({ query }): unknown => query)),
    fc
      .tuple(fc.oneof(...asked), entries(tree))
      .map(([{ query }, more]): unknown => ({ ...query, ...(more as object) })),
    fc.record(
      { filter: entries(tree), sort: tree, search: tree, page: scalar },
      { requiredKeys: [] },
    ),
  )
  const body = fc.oneof(
    { weight: 10, arbitrary: json.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: json.map((value) => (JSON.stringify(value) ?? '').slice(0, -1)) },
    { weight: 1, arbitrary: odd },
  )
  const write = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('POST', 'PATCH', 'PATCH') },
    fc.constantFrom('DELETE', 'PUT'),
  )
  const read = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('GET', 'QUERY') },
    fc.constantFrom('HEAD', 'OPTIONS', 'PROPFIND', 'query'),
  )
  const mounts = [...NOTES, ...Object.keys(SETTINGS)]
  return fc
    .record({
      write: fc.option(write, { freq: 2, nil: undefined }),
      read,
      mount: fc.constantFrom(...mounts, ...NOTES, ...NOTES, '', '/note', '/NOTES'),
      writable: fc.constantFrom(...NOTES),
      tail: fc.oneof(fc.constant(undefined), fc.constant(undefined), tail),
      search: fc.oneof(search, both),
      user: fc.oneof(
        { weight: 15, arbitrary: fc.constant('ann') },
        fc.constantFrom('bob', '', 'Ann'),
      ),
      contentType,
      headers: fc.array(otherHeader, { maxLength: 2 }),
      body,
    })
    .map((drawn): Sent => {
      const method = drawn.write ?? drawn.read
      // The library is only read: what it holds is known beforehand.
      const mount = drawn.write ? drawn.writable : drawn.mount
      const fitting = method === 'PATCH' || method === 'DELETE' ? `/${LIVE}` : ''
      const path = mount + (drawn.tail ?? fitting)
      const mayHaveBody = !['GET', 'HEAD', 'OPTIONS'].includes(method)
      return {
        method,
        url: `http://localhost${path}?${drawn.search}`,
        headers: {
          'x-user': drawn.user,
          ...(mayHaveBody && { 'content-type': drawn.contentType }),
          ...Object.fromEntries(drawn.headers),
        },
        body: mayHaveBody ? drawn.body : undefined,
      }
    })
}

/** As `encodeURIComponent`, which throws for half a surrogate pair. */
function encodeURIComponentSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/**
 * Random requests to a world: every parameter of a list, every write, and nonsense in between.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import { condition, headersOf, list, shown, tokenOf } from './lists.ts'
import { objectOf, valueFor } from './records.ts'
import type { Sent } from './send.ts'
import { type ModelSpec, pick, placesOf, type RouterSpec, type WorldSpec } from './spec.ts'
import { anything, deep, idToken, jsonOf } from './values.ts'

/** A request, or several that go on with what the one before answered. */
export function randomRequests(random: Random, world: WorldSpec): Sent[] {
  if (random.chance(8)) return [storeCall(random, world)]
  if (random.chance(4)) return [atomicCall(random, world)]
  if (random.chance(6)) return [batchOf(random, world)]
  const router = pick(random, world.routers)
  const model = world[router.of]
  const roll = random.below(100)
  if (roll < 22) return [write(random, router, model, 'POST', '')]
  if (roll < 34) return [write(random, router, model, 'PATCH', `/${someId(random, router)}`)]
  if (roll < 39) return [bare(random, router, 'DELETE', `/${someId(random, router)}`)]
  if (roll < 49) return one(random, router, model)
  if (roll < 52) return [odd(random, router)]
  return list(random, router, model)
}

/** Records for a world to begin with. */
export function firstRequests(random: Random, world: WorldSpec): Sent[] {
  const post = (of: RouterSpec['of']): Sent => {
    const body = jsonOf(objectOf(random, world[of].fields))
    return { method: 'app.store', path: `insert ${of}`, headers: {}, body }
  }
  return [
    ...Array.from({ length: 6 }, () => post('other')),
    ...Array.from({ length: 14 }, () => post('thing')),
  ]
}

function someId(random: Random, router: RouterSpec): string {
  if (random.chance(94)) return idToken(random, tokenOf(router))
  const wrong = [
    'f'.repeat(24),
    '0'.repeat(23),
    '1',
    'F'.repeat(24),
    '%00',
    '00000000-0000-4000-8000-000000000000',
    'x'.repeat(24),
    '%',
    '~',
    'a%2Fb',
  ] as const
  return random.of(wrong)
}

function bare(random: Random, router: RouterSpec, method: string, tail: string): Sent {
  const condition = random.chance(25) && {
    'if-match': random.of(['~etag0~', '~etag0~', '*', '"x"']),
  }
  return { method, path: `${router.mount}${tail}`, headers: { ...condition } }
}

function one(random: Random, router: RouterSpec, model: ModelSpec): Sent[] {
  const path = `${router.mount}/${someId(random, router)}${shown(random, router, model, '?')}`
  const headers = headersOf(random, router, model)
  const get: Sent = { method: random.of(['GET', 'GET', 'GET', 'HEAD']), path, headers }
  if (random.chance(60)) return [get]
  const etag = { 'if-none-match': '~etag0~' }
  return [get, { ...get, headers: { ...headers, ...etag } }]
}

function write(
  random: Random,
  router: RouterSpec,
  model: ModelSpec,
  method: string,
  tail: string,
): Sent {
  const { headers } = bare(random, router, method, tail)
  const type = random.chance(97)
    ? 'application/json'
    : random.of(['text/plain', 'application/vnd.x+json', ''])
  return {
    method,
    path: `${router.mount}${tail}${shown(random, router, model, '?')}`,
    headers: { ...headersOf(random, router, model), ...(tail && headers), 'content-type': type },
    body: bodyFor(random, model, method),
  }
}

function bodyFor(random: Random, model: ModelSpec, method: string): string {
  const roll = random.below(100)
  if (roll < 2) return jsonOf(deep(random))
  if (roll < 4)
    return random.of([
      '',
      '{',
      '[]',
      'null',
      '5',
      '{"a":}',
      '\ufeff{}',
      '{"text":"a","text":"b"}',
      '{"__proto__":{"a":1}}',
    ])
  const whole = objectOf(random, model.fields)
  if (method === 'PATCH') {
    const kept = Object.entries(whole).filter(() => random.chance(40))
    return jsonOf(Object.fromEntries(kept))
  }
  return jsonOf(random.chance(10) ? { ...whole, _id: 'x', $a: 1, extra: anything(random) } : whole)
}

function odd(random: Random, router: RouterSpec): Sent {
  const method = random.of(['PUT', 'OPTIONS', 'HEAD', 'DELETE', 'PATCH', 'POST', 'QUERY'])
  const tail = random.of(['', '/', `/${someId(random, router)}`, '/a/b', '?page=1', '/%zz', '//'])
  return { method, path: `${router.mount}${tail}`, headers: {} }
}

/** Several calls as one step: each sees what those before it did, which no database has yet. */
function atomicCall(random: Random, world: WorldSpec): Sent {
  const calls = Array.from({ length: 1 + random.below(5) }, () => {
    const { path, body } = storeCall(random, world)
    return jsonOf(path).concat(',', body ?? '')
  })
  const body = `[${calls.map((one) => `[${one}]`).join()}]`
  return { method: 'app.store', path: 'atomic', headers: {}, body }
}

/** Several writes of several routers in one request. */
function batchOf(random: Random, world: WorldSpec): Sent {
  const operations = Array.from({ length: 1 + random.below(4) }, () => {
    const router = pick(random, world.routers)
    const model = world[router.of]
    const roll = random.below(10)
    const tail = random.chance(15) ? `/$${random.below(3)}` : `/${someId(random, router)}`
    const sent =
      roll < 5
        ? write(random, router, model, 'POST', '')
        : roll < 8
          ? write(random, router, model, 'PATCH', tail)
          : bare(random, router, 'DELETE', tail)
    const { method, path, body } = sent
    return `{${[`"method":${jsonOf(method)}`, `"path":${jsonOf(path)}`, ...(body ? [`"body":${body}`] : [])].join()}}`
  })
  return {
    method: 'POST',
    path: '/batch',
    headers: { 'content-type': 'application/json' },
    body: `{"operations":[${operations.join()}]}`,
  }
}

/** What the deployer's code asks: names as it would write them, values of any kind. */
function storeCall(random: Random, world: WorldSpec): Sent {
  const of = random.of(['thing', 'thing', 'other'] as const)
  const model = world[of]
  const places = placesOf(model)
  const filter = Object.fromEntries(
    random
      .list(2, () => pick(random, places))
      .map((place) => [place.path, condition(random, place)]),
  )
  const values = objectOf(random, model.fields)
  const id = idToken(random, of === 'thing' ? 'id' : 'other')
  const call = random.of([
    'insert',
    'insert',
    'insert-as',
    'find',
    'find',
    'count',
    'update',
    'update-where',
    'delete',
  ])
  // An update of many that clashes half-way is taken back by SQLite, not by MongoDB (docs/stores.md).
  const unique = model.unique.flat()
  const plain = model.fields.filter(({ name }) => !unique.some((path) => path.startsWith(name)))
  const isFree = plain.length > 0 && !unique.includes('updatedAt')
  const touched = isFree ? [pick(random, plain)] : []
  const changes = Object.fromEntries(touched.map((field) => [field.name, valueFor(random, field)]))
  const ordered = places.filter((place) => place.ordered).map(({ path }) => path)
  const options = {
    ...(random.chance(60) && { sort: pick(random, ordered) }),
    ...(random.chance(40) && { limit: 1 + random.below(4) }),
    ...(random.chance(40) && { select: [pick(random, places).path] }),
  }
  const body = jsonOf({
    filter: isFree || call !== 'update-where' ? filter : { _id: id },
    values,
    id,
    changes,
    options,
  })
  return { method: 'app.store', path: `${call} ${of}`, headers: {}, body }
}

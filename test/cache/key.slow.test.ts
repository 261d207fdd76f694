import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { audienceOf, keyText, requestKey } from '../../src/cache/key.ts'
import { parseQuery } from '../../src/http/request/request.ts'
import type { ApiRequest, AuthContext } from '../../src/index.ts'
import { runs } from '../runs.ts'

const PAIRS = runs(5000)

/** What a request means: objects for what has no order, lists for what has one. */
interface Meaning {
  readonly kind: 'list' | 'query' | 'one'
  readonly path: string
  readonly query: Readonly<Record<string, readonly string[]>>
  readonly body: unknown
  readonly auth: AuthContext | undefined
}

/** A small pool, so that two meanings are often equal, and full of what separates parts elsewhere. */
const TEXTS = ['a', 'b', 'ab', 'a:b', ':', ',', '"', '', '[]', 'null', '1', 'a","b', '\n', '\ud800']
const NAMES = ['a', 'b', 'a[]', 'members', '__proto__']
const plain = { noNullPrototype: true } as const
const text = fc.constantFrom(...TEXTS)
const name = fc.constantFrom(...NAMES)
const { body } = fc.letrec((tie) => ({
  body: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.constantFrom(null, true, 0, 1, Infinity, -Infinity),
    fc.array(tie('body'), { maxLength: 2 }),
    fc.dictionary(name, tie('body'), { maxKeys: 3, ...plain }),
  ),
}))
const meaning: fc.Arbitrary<Meaning> = fc.record(
  {
    kind: fc.constantFrom('list', 'query', 'one'),
    path: fc.constantFrom('/a', '/ab', '/a/b', '/a/b:c', '/a:b/c'),
    query: fc.dictionary(name, fc.array(text, { minLength: 1, maxLength: 2 }), {
      maxKeys: 2,
      ...plain,
    }),
    body,
    auth: fc.option(
      fc.record(
        {
          userId: fc.constantFrom('a', 'b', 'a:b', 'a","b', ' '),
          role: fc.constantFrom('b', 'admin', 'b:admin', ['b'], ['b', 'admin']),
        },
        plain,
      ),
      { nil: undefined },
    ),
  },
  plain,
)

/** The key of a request that means this, its parameters and members written in an order of their own. */
function keyOf(wanted: Meaning, isReversed: boolean): string {
  const turned = <T>(list: T[]): T[] => (isReversed ? list.toReversed() : list)
  const parameters = turned(Object.entries(wanted.query)).flatMap(([name, values]) =>
    values.map(
      (value) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
    ),
  )
  const query = parseQuery(`http://localhost${wanted.path}?${parameters.join('&')}`)
  const sent: unknown = JSON.parse(written(wanted.body, turned))
  const request = { headers: new Headers(), ...(wanted.auth && { auth: wanted.auth }) }
  const audience = audienceOf(request as ApiRequest)
  const { kind, path } = wanted
  return keyText([requestKey({ kind, path, query, body: sent }), audience])
}

/** JSON text as a client may write it. */
function written(value: unknown, turned: <T>(list: T[]) => T[]): string {
  if (Array.isArray(value)) return `[${value.map((item) => written(item, turned)).join()}]`
  if (value === Infinity || value === -Infinity) return value > 0 ? '1e400' : '-1e400'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = turned(Object.entries(value))
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${written(item, turned)}`).join()}}`
}

/** As the server understands it: a lone surrogate cannot stand in a URL. */
function understood(wanted: Meaning): Meaning {
  const query = Object.entries(wanted.query).map(([name, values]) => [
    name,
    values.map((value) => value.toWellFormed()),
  ])
  return { ...wanted, query: Object.fromEntries(query) }
}

describe('keys of the cache', () => {
  it('are equal for equal meaning alone', { timeout: 300_000 }, async () => {
    let equal = 0
    let different = 0
    const pair = fc.asyncProperty(
      meaning,
      meaning,
      fc.constantFrom<readonly (keyof Meaning)[]>(
        ['kind', 'path', 'query', 'body', 'auth'],
        ['query', 'body', 'auth'],
        ['auth'],
        ['body'],
        ['query'],
        ['path'],
        ['kind'],
        [],
      ),
      async (one, other, changed) => {
        const changes = Object.fromEntries(changed.map((part) => [part, other[part]]))
        const second: Meaning = { ...one, ...changes }
        const isSame = isDeepStrictEqual(understood(one), understood(second))
        if (isSame) equal += 1
        else different += 1
        expect((await keyOf(one, false)) === (await keyOf(second, true))).toBe(isSame)
      },
    )
    await fc.assert(pair, { numRuns: PAIRS, seed: 4 })
    expect(Math.min(equal, different)).toBeGreaterThan(PAIRS / 5)
  })
})

import { describe, expect, it } from 'vitest'
import type { Told } from './http-cache.ts'
import { type World, world } from './world.ts'

/** Tags that a condition names: the current one, or others; and dates, compared with that of a file. */
const TAGS = [undefined, '*', 'same', 'weak', 'other', 'other, same', 'garbage', ''] as const
const DATES = [undefined, 'same', 'before', 'after', 'garbage'] as const

interface Conditions {
  readonly match: (typeof TAGS)[number]
  readonly none: (typeof TAGS)[number]
  readonly unmodified?: (typeof DATES)[number]
  readonly modified?: (typeof DATES)[number]
}

const CONDITIONS: readonly Conditions[] = TAGS.flatMap((match) =>
  TAGS.map((none) => ({ match, none })),
)
const WITH_DATES: readonly Conditions[] = CONDITIONS.filter(({ match, none }) =>
  [match, none].every((one) => one === undefined || one === 'same' || one === 'other'),
).flatMap((tags) =>
  DATES.flatMap((unmodified) => DATES.map((modified) => ({ ...tags, unmodified, modified }))),
)

const isStrong = (one: Conditions['match']) =>
  one === '*' || one === 'same' || one === 'other, same'

const isTag = (one: Conditions['none']) => isStrong(one) || one === 'weak'

/** The status by the rules of RFC 9110, 13.2.2, of a request that gets `status` without conditions. */
function rightFor(method: string, status: number, isDated: boolean, given: Conditions): number {
  if (status >= 300 || method === 'OPTIONS') return status
  const { match, none } = given
  const isOld = isDated && given.unmodified === 'before'
  if (match === undefined ? isOld : !isStrong(match)) return 412
  const isRead = method !== 'PATCH' && method !== 'DELETE'
  const isSince = isDated && isRead && ['same', 'after'].includes(given.modified ?? '')
  const isKnown = none === undefined ? isSince : isTag(none)
  if (!isKnown) return status
  return isRead ? 304 : 412
}

const HOUR = 3_600_000

function headersFor(given: Conditions, { headers }: Told): Record<string, string> {
  const tag = headers.get('etag') ?? '"none"'
  const at = Date.parse(headers.get('last-modified') ?? '2026-01-01')
  const dated = (ms: number) => new Date(ms).toUTCString()
  const words: Readonly<Record<string, readonly [tag: string, date: string]>> = {
    same: [tag, dated(at)],
    weak: [`W/${tag}`, ''],
    other: ['"x"', ''],
    'other, same': [`"x", ${tag}`, ''],
    before: ['', dated(at - HOUR)],
    after: ['', dated(at + HOUR)],
  }
  const said = {
    'if-match': given.match && (words[given.match]?.[0] ?? given.match),
    'if-none-match': given.none && (words[given.none]?.[0] ?? given.none),
    'if-unmodified-since': given.unmodified && (words[given.unmodified]?.[1] ?? 'garbage'),
    'if-modified-since': given.modified && (words[given.modified]?.[1] ?? 'garbage'),
  }
  const empty = {
    ...(given.match === '' && { 'if-match': '' }),
    ...(given.none === '' && { 'if-none-match': '' }),
  }
  return {
    ...(Object.fromEntries(Object.entries(said).filter(([, value]) => value)) as object),
    ...empty,
  }
}

interface Target {
  readonly method: string
  readonly path: string
  readonly body?: string
}

/** Where the app answers otherwise than the rules say. */
async function otherwise(
  { ask }: World,
  { method, path, body }: Target,
  conditions: readonly Conditions[],
): Promise<unknown[]> {
  const headers = { 'content-type': 'application/json' }
  const asked = { method, path, headers, ...(body !== undefined && { body }) }
  const isWrite = method === 'PATCH' || method === 'DELETE'
  const wrong: unknown[] = []
  const { status } = isWrite ? { status: 200 } : await ask(asked)
  const current = await ask(method === 'QUERY' ? asked : { method: 'GET', path, headers: {} })
  for (const given of conditions) {
    const more = headersFor(given, current)
    const answer = await ask({ ...asked, headers: { ...headers, ...more } })
    const right = rightFor(method, status, current.headers.has('last-modified'), given)
    if (answer.status !== right) wrong.push({ method, path, more, status: answer.status, right })
  }
  return wrong
}

describe('conditions decide as RFC 9110 says (13.2.2)', () => {
  it('about reads, and not about what would fail without them', async () => {
    const all = await world()
    const [id] = all.ids
    const tagged = ['/open', '/open?page=1', `/open/${id}`, `/open/${id}/history`, `/photos/${id}`]
    const failing = ['/nothing', '/open/x', `/open/${'0'.repeat(24)}`, '/own', '/open?sort=cost']
    const targets = [...tagged, '/cookie', '/docs/openapi.json', ...failing].flatMap((path) =>
      ['GET', 'HEAD'].map((method): Target => ({ method, path })),
    )
    targets.push(
      { method: 'QUERY', path: '/open', body: '{}' },
      { method: 'QUERY', path: '/open', body: '{"aggregate":{"count":true}}' },
      { method: 'QUERY', path: '/open', body: '{"page":0}' },
      { method: 'OPTIONS', path: '/open' },
      { method: 'PUT', path: '/open' },
    )
    for (const target of targets) expect(await otherwise(all, target, CONDITIONS)).toEqual([])
  })

  it('about files, dates included', async () => {
    const all = await world()
    const targets = all.files.flatMap((path) =>
      ['GET', 'HEAD'].map((method): Target => ({ method, path })),
    )
    for (const target of targets) expect(await otherwise(all, target, WITH_DATES)).toEqual([])
  })

  it('about writes', async () => {
    const all = await world()
    const path = `/open/${all.ids[1]}`
    for (const [at, given] of CONDITIONS.entries()) {
      const patch = { method: 'PATCH', path, body: `{"title":"${at}"}` }
      expect(await otherwise(all, patch, [given])).toEqual([])
    }
    for (const [at, given] of CONDITIONS.slice(0, all.ids.length).entries()) {
      const one = { method: 'DELETE', path: `/open/${all.ids.at(-1 - at)}` }
      expect(await otherwise(all, one, [given])).toEqual([])
    }
  })
})

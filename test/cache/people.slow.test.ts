import { describe, expect, it } from 'vitest'
import type { CacheOptions } from '../../src/index.ts'
import { randomFrom } from '../random.ts'
import { type Answer, answerOf, request } from '../records/service.ts'
import { runs } from '../runs.ts'
import { Page, PEOPLE, type People, type Person, people, User } from './people.ts'

interface Question {
  readonly method: string
  readonly path: string
  readonly json?: unknown
}

/** What may be asked for: the same of everybody. */
function questions({ pages }: People): readonly Question[] {
  const get = (path: string): Question => ({ method: 'GET', path })
  const ids = pages.map(({ _id }) => _id)
  return ['/pages', '/own', '/admin'].flatMap((mount) => [
    get(mount),
    get(`${mount}?page=1&pageSize=2`),
    get(`${mount}?s=page%201`),
    get(`${mount}?owner=${pages[0]?.owner}`),
    get(`${mount}?sort=cost`),
    ...ids.slice(0, 2).map((id) => get(`${mount}/${id}`)),
    { method: 'HEAD', path: mount },
    { method: 'QUERY', path: mount, json: {} },
    { method: 'QUERY', path: mount, json: { filter: { title: 'page 1' } } },
  ])
}

/** What an answer tells: everything but where it came from. */
function told({ status, text, headers }: Answer) {
  const names = ['etag', 'cache-control', 'vary', 'www-authenticate', 'x-request-id']
  return { status, text, headers: names.map((name) => headers.get(name)) }
}

/**
 * Has everybody ask the same things at the same time, in an order of the seed's, with a write now and then; gives
 * what the cached app told somebody that the other one would not have told him.
 */
async function interleaved(all: People, seed: number, seen: { hits: number }): Promise<unknown[]> {
  const random = randomFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const wrong: unknown[] = []
  const ask = async (person: Person, { method, path, json }: Question, etag: string) => {
    const id = `r${seed}-${Math.floor(random() * 1e9)}`
    const headers = { ...all.headers(person), 'x-request-id': id, 'if-none-match': etag }
    const [shown, right] = await Promise.all(
      [all.cached, all.plain].map(async ({ app }) =>
        answerOf(await app.handle(request(method, path, { json, headers }))),
      ),
    )
    if (!shown || !right) throw new Error('unanswered')
    if (shown.headers.get('x-cache') === 'HIT') seen.hits += 1
    const [one, other] = [told(shown), told(right)]
    if (JSON.stringify(one) !== JSON.stringify(other))
      wrong.push({ seed, person, path, one, other })
    return right.headers.get('etag') ?? ''
  }
  let etag = '"none"'
  for (let turn = 0; turn < 2; turn += 1) {
    const question = pick(questions(all))
    const crowd = Array.from({ length: 3 }, () => pick(PEOPLE))
    const tags = await Promise.all(crowd.map((person) => ask(person, question, pick([etag, '']))))
    for (let late = 0; late < 3; late += 1) tags.push(await ask(pick(PEOPLE), question, ''))
    // What one of them has learned, the next ones try.
    etag = pick(tags.filter(Boolean)) ?? etag
  }
  if (random() < 0.2) {
    const { _id } = pick(all.pages)
    const stored = all.cached.app.store.collection(Page)
    await stored.update(String(_id), { title: `page ${seed % 4}` })
  }
  return wrong
}

async function tried(count: number, cache: true | CacheOptions) {
  const all = await people(cache)
  const seen = { hits: 0 }
  const wrong: unknown[] = []
  for (let seed = 1; seed <= count; seed += 1) wrong.push(...(await interleaved(all, seed, seen)))
  console.log(`${count} interleavings, ${count * 12} requests, ${seen.hits} answers from the cache`)
  return { wrong, ...seen }
}

describe('admins, users, anonymous ones, and those with bad and expired tokens', () => {
  it('are told what they are told without a cache, however their requests are interleaved', {
    timeout: 300_000,
  }, async () => {
    const { wrong, hits } = await tried(runs(100), true)
    expect(wrong).toEqual([])
    expect(hits).toBeGreaterThan(runs(100))
  })

  it('are told too much when everybody shares answers, so the interleavings would show it', async () => {
    const { wrong } = await tried(50, { vary: () => 'everybody' })
    expect(wrong.length).toBeGreaterThan(0)
  })
})

describe('a warm cache opens no door', () => {
  async function warm() {
    const all = await people()
    const ask = (person: Person, path: string) =>
      all.cached.send('GET', path, { headers: all.headers(person) })
    for (const [person, path] of [
      ['admin', '/admin'],
      ['ann', '/own'],
      ['ann', '/pages'],
    ] as const) {
      await ask(person, path)
      expect((await ask(person, path)).headers.get('x-cache')).toBe('HIT')
    }
    return { ...all, ask, accounts: all.cached.app.store.collection(User) }
  }

  it('for those whom a guard refuses', async () => {
    const { ask } = await warm()
    for (const person of ['anonymous', 'bad', 'expired'] as const) {
      for (const path of ['/admin', '/own']) expect((await ask(person, path)).status).toBe(401)
    }
    for (const person of ['bad', 'expired'] as const) {
      expect((await ask(person, '/pages')).status).toBe(401)
    }
    expect((await ask('ann', '/admin')).status).toBe(403)
  })
  it('for an admin who is one no longer', async () => {
    const { ask, accounts, users } = await warm()
    await accounts.update(users.admin, { role: 'user' })
    expect((await ask('admin', '/admin')).status).toBe(403)
    expect((await ask('admin', '/pages')).text).not.toContain('cost')
  })

  it('for an account that is disabled, deleted, or has another password', async () => {
    const { ask, accounts, users, clock } = await warm()
    await accounts.update(users.ann, { isDisabled: true })
    for (const path of ['/own', '/pages']) expect((await ask('ann', path)).status).toBe(403)
    // Enabled again, nothing from before opens the account.
    await accounts.update(users.ann, { isDisabled: false })
    for (const path of ['/own', '/pages']) expect((await ask('ann', path)).status).toBe(401)
    clock.at += 1000
    await accounts.update(users.bob, { passwordChangedAt: new Date(clock.at) })
    for (const path of ['/own', '/pages']) expect((await ask('bob', path)).status).toBe(401)
    await accounts.delete(users.admin)
    expect((await ask('admin', '/admin')).status).toBe(401)
  })

  it('for a token that has expired meanwhile', async () => {
    const { ask, clock } = await warm()
    clock.at += 365 * 86_400_000
    for (const path of ['/own', '/pages']) expect((await ask('ann', path)).status).toBe(401)
  })
})

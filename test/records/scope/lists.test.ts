import { describe, expect, test } from 'vitest'
import { createRouter } from '../../../src/index.ts'
import { service } from '../service.ts'
import { ids, Note, notes, OWN } from './notes.ts'

describe('answers, Scope and guards: lists', () => {
  test('answers, Scope and guards: GET, HEAD and QUERY show own records alone', async () => {
    const { ann, bob, made } = await notes()
    expect(ids((await ann('GET', '/notes')).records)).toEqual(ids(made.ann))
    expect(ids((await bob('QUERY', '/notes', {})).records)).toEqual(ids(made.bob))
    expect((await ann('HEAD', '/notes')).status).toBe(200)
  })

  const GETS = [
    'owner=bob',
    'owner=ann&owner=bob',
    'owner=',
    'title=secret bob 1',
    'size=1',
    'size=1&size=3',
    'rangeField=size&range=0-100',
    'rangeField=owner&range=-',
    ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte'].flatMap((operator) => [
      `compareField=owner&compareOperator=${operator}&compareValue=bob`,
      `compareField=owner&compareOperator=${operator}&compareValue=ann`,
      `compareField=owner&compareOperator=${operator}&compareValue=`,
      `compareField=size&compareOperator=${operator}&compareValue=1`,
    ]),
    's=bob',
    's=secret',
    's=',
    'search=bob',
    's=secret bob 1',
    'sort=owner',
    'sort=-owner',
    'sort=-_id',
    'sort=size',
    'page=1',
    'page=2',
    'page=1&pageSize=3',
    'page=2&pageSize=5&sort=-owner',
    'owner=bob&page=1',
    's=bob&page=1&sort=-owner',
    'scope=',
    'filter=all',
    'auth=bob',
    'x-user=bob',
    'userId=bob',
  ]

  test.each(GETS)(
    "answers, Scope and guards: GET ?%s shows no record of another's, in data or in totals",
    async (parameters) => {
      const { ann, made } = await notes()
      const answer = await ann('GET', `/notes?${encodeURI(parameters)}`)
      if (answer.status !== 200) expect(answer.status).toBe(400)
      else expect(ids(made.ann)).toEqual(expect.arrayContaining(ids(answer.records)))
      expect(answer.text).not.toContain('secret bob')
      const { totalRecords } = (answer.body.pagination ?? {}) as { totalRecords?: number }
      expect(totalRecords ?? 0).toBeLessThanOrEqual(5)
    },
  )

  const FILTERS: object[] = [
    ...['bob', 'ann', null, '', ['ann', 'bob'], ['bob']].map((owner) => ({ owner })),
    ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte'].flatMap((operator) => [
      { owner: { [operator]: 'bob' } },
      { owner: { [operator]: 'ann' } },
      { owner: { [operator]: null } },
      { size: { [operator]: 1 } },
    ]),
    { owner: { in: ['ann', 'bob'] } },
    { owner: { nin: ['ann'] } },
    { owner: { nin: ['bob', null] } },
    { owner: { gte: 'a', lte: 'z' } },
    { owner: 'bob', title: { gte: 's' } },
  ]

  test.each(FILTERS)(
    "answers, Scope and guards: the QUERY filter %j shows no record of another's",
    async (filter) => {
      const { ann, made } = await notes()
      for (const body of [
        { filter },
        { filter, page: 1 },
        { filter, sort: ['-owner', 'size'] },
        { filter, search: 'b' },
        { filter, limit: 100 },
      ]) {
        const answer = await ann('QUERY', '/notes', body)
        expect(answer.status, answer.text).toBe(200)
        expect(ids(made.ann)).toEqual(expect.arrayContaining(ids(answer.records)))
        expect(answer.text).not.toContain('secret bob')
      }
    },
  )

  test.each(['exact', 'estimated', 'none'] as const)(
    'answers, Scope and guards: countStrategy %s counts own records alone',
    async (countStrategy) => {
      const { ann } = await notes({ countStrategy })
      const { pagination } = (await ann('GET', '/notes?page=1&pageSize=5')).body
      const counted =
        countStrategy === 'none' ? { hasMore: false } : { totalPages: 1, totalRecords: 5 }
      expect(pagination).toEqual({ currentPage: 1, pageSize: 5, ...counted })
    },
  )
})

describe('answers, Cursor mode: a cursor stays within the scope', () => {
  test('security, cursors: a walk shows own records alone, whatever the order', async () => {
    const { ann, made } = await notes({ pagination: 'cursor', defaultPageSize: 2 })
    for (const sort of ['owner', '-owner', 'size', '-size', 'title', '_id']) {
      const walked: unknown[] = []
      let cursor = ''
      do {
        const { body, records } = await ann('GET', `/notes?sort=${sort}&cursor=${cursor}`)
        walked.push(...ids(records))
        cursor = (body.pagination as { nextCursor: string | null }).nextCursor ?? ''
      } while (cursor !== '')
      expect(walked.sort()).toEqual(ids(made.ann).sort())
    }
  })

  test.each([undefined, 'a secret of thirty-two characters!'])(
    "security, cursors: another's cursor is refused, with the secret %o",
    async (secret) => {
      const served = service(secret === undefined ? {} : { secret })
      served.app.mount(
        '/notes',
        createRouter({ model: Note, ...OWN, pagination: 'cursor', defaultPageSize: 1 }),
      )
      const stored = served.app.store.collection(Note)
      for (const owner of ['ann', 'ann', 'bob', 'bob'])
        await stored.insert({ owner, title: owner, size: 1 })
      const page = async (user: string, cursor: string) =>
        served.send('GET', `/notes?cursor=${cursor}`, { headers: { 'x-user': user } })
      const { nextCursor } = (await page('bob', '')).body.pagination as { nextCursor: string }
      expect((await page('bob', nextCursor)).records).toMatchObject([{ owner: 'bob' }])
      expect((await page('ann', nextCursor)).body.error).toBe(
        'Cursor is not a valid pagination token.',
      )
    },
  )

  test("security, cursors: an anchor that has moved to another's scope is as good as gone", async () => {
    const { ann, stored } = await notes({ pagination: 'cursor', defaultPageSize: 2 })
    const first = await ann('GET', '/notes')
    const { nextCursor } = first.body.pagination as { nextCursor: string }
    await stored.update(String(first.records[1]?._id), { owner: 'bob' })
    expect((await ann('GET', `/notes?cursor=${nextCursor}`)).body.error).toBe(
      'The record this cursor points at no longer exists. Start the scan again.',
    )
  })
})

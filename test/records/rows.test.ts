/**
 * The tables of the contract, row by row: each in its plainest case. The cases around them stand in the folders.
 *
 * @module
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { createRouter, defineModel, HttpError } from '../../src/index.ts'
import { type Message, service } from './service.ts'

const Row = defineModel('RowRecord', {
  fields: { name: z.string(), size: z.number().optional(), code: z.string().optional() },
  unique: ['code'],
})
const ABSENT = 'f'.repeat(24)

/** Rows behind routers of both modes, a cached one and a read-only one. */
async function rows() {
  const served = service({ cache: memoryCache() })
  const { app } = served
  const lists = { model: Row, query: ['name', 'size'], search: ['name'] } as const
  const open = { ...lists, allowedFields: ['name', 'size', 'code'] } as const
  app.mount('/rows', createRouter({ ...open, maxPage: 3 }))
  app.mount('/walk', createRouter({ ...open, pagination: 'cursor', defaultPageSize: 2 }))
  app.mount('/cached', createRouter({ ...open, cache: true }))
  const readOnly = ({ method }: Request) => {
    if (['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(method)) return
    throw new HttpError(405, 'Method not allowed.')
  }
  app.mount('/shown', createRouter({ ...lists, allowedFields: [], middlewares: [readOnly] }))
  const stored = app.store.collection(Row)
  const records = []
  for (const [at, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    records.push(await stored.insert({ name, size: [1, 1, -2, 1, 5][at] ?? 0, code: name }))
  }
  const id = records[0]?._id ?? ''
  const found = async (path: string, message?: Message) => {
    const { records } = await served.send(message ? 'QUERY' : 'GET', path, message)
    return records.map(({ name }) => name).join('')
  }
  return { ...served, records, id, found }
}

describe('4.1 Resource routes', () => {
  test.each([
    ['GET', '/rows', undefined, 200, { data: expect.any(Array) }],
    ['QUERY', '/rows', { filter: { name: 'a' } }, 200, { data: [{ name: 'a' }] }],
    ['POST', '/rows', { name: 'new' }, 201, { data: { name: 'new' } }],
    ['GET', '/rows/:id', undefined, 200, { data: { name: 'a', size: 1 } }],
    ['PATCH', '/rows/:id', { name: 'z' }, 200, { data: { name: 'z', size: 1 } }],
    ['DELETE', '/rows/:id', undefined, 200, { message: 'Item successfully deleted.' }],
  ])('4.1 Resource routes: %s %s', async (method, path, json, status, body) => {
    const { send, id } = await rows()
    const answer = await send(method, path.replace(':id', id), json ? { json } : {})
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: true, ...body })
  })
})

describe('4.1 GET list parameters', () => {
  test('4.1 GET list parameters, page: starts paginated response', async () => {
    const { send } = await rows()
    const { pagination } = (await send('GET', '/rows?page=2')).body
    expect(pagination).toMatchObject({ currentPage: 2, totalRecords: 5 })
    expect((await send('GET', '/rows')).body).not.toHaveProperty('pagination')
  })

  test('4.1 GET list parameters, pageSize: items per page', async () => {
    const { found } = await rows()
    expect(await found('/rows?page=2&pageSize=2')).toBe('cd')
  })

  test('4.1 GET list parameters, cursor: cursor mode only', async () => {
    const { send, found } = await rows()
    const { pagination } = (await send('GET', '/walk')).body as {
      pagination: { nextCursor: string }
    }
    expect(await found(`/walk?cursor=${pagination.nextCursor}`)).toBe('cd')
    expect((await send('GET', `/rows?cursor=${pagination.nextCursor}`)).status).toBe(400)
  })

  test('4.1 GET list parameters, rule 1: bounds and compare values are numbers; negative bounds need compareField or QUERY', async () => {
    const { found, send } = await rows()
    expect(await found('/rows?rangeField=size&range=1-5')).toBe('abde')
    expect(await found('/rows?compareField=size&compareOperator=gte&compareValue=1.0')).toBe('abde')
    expect((await send('GET', '/rows?rangeField=size&range=-3--1')).body.error).toBe(
      'Invalid range.',
    )
    expect(await found('/rows?compareField=size&compareOperator=lte&compareValue=-1')).toBe('c')
    expect(await found('/rows', { json: { filter: { size: { gte: -3, lte: -1 } } } })).toBe('c')
  })

  test('4.1 Cursor pagination, rule 5: the id is appended to the sort, so ties are neither skipped nor repeated', async () => {
    for (const sort of ['size', '-size']) {
      const { send } = await rows()
      let seen = ''
      let next: string | null = ''
      while (next !== null) {
        const { records, body } = await send('GET', `/walk?sort=${sort}&pageSize=1&cursor=${next}`)
        seen += records.map(({ name }) => name).join('')
        next = (body.pagination as { nextCursor: string | null }).nextCursor
      }
      expect(seen).toBe(sort === 'size' ? 'cabde' : 'eabdc')
    }
  })
})

describe('6 Events', () => {
  test('6 Events: the response header X-Cache reports cache hits', async () => {
    const { send, id } = await rows()
    const cached = async (path: string) => (await send('GET', path)).headers.get('x-cache')
    for (const path of ['/cached', `/cached/${id}`]) {
      expect([await cached(path), await cached(path)]).toEqual(['MISS', 'HIT'])
    }
    expect(await cached('/rows')).toBeNull()
  })
})

describe('7 Errors', () => {
  const paged = "This endpoint paginates by page. Use 'page' and 'pageSize'."
  const walked =
    "This endpoint paginates by cursor. Omit 'page' for the first page, then follow 'pagination.nextCursor'."
  const deep =
    'Page 4 is beyond the maximum of 3. Narrow the filter, or page with a cursor instead.'
  const keys =
    'Allowed: filter, search, sort, page, pageSize, limit, cursor, select, expand, aggregate, by.'
  test.each([
    [400, 'malformed id', 'GET /rows/1', undefined, 'Invalid ID format.'],
    [
      400,
      'field not filterable',
      'GET /rows?rangeField=code&range=1-2',
      undefined,
      "Field 'code' is not filterable.",
    ],
    [400, 'field not sortable', 'GET /rows?sort=code', undefined, "Field 'code' is not sortable."],
    [400, 'bad filter value', 'GET /rows?size=abc', undefined, 'Invalid value for size.'],
    [
      400,
      'bad filter value, object-shaped',
      'GET /rows?size[$ne]=0',
      undefined,
      "Invalid value for filter 'size'.",
    ],
    [
      400,
      'search term over maxSearchLength',
      `GET /rows?s=${'x'.repeat(129)}`,
      undefined,
      'Search term exceeds 128 characters.',
    ],
    [
      400,
      'body with no writable fields',
      'POST /rows',
      { nothing: 1 },
      'Request body contains no writable fields.',
    ],
    [400, 'failed validation', 'POST /rows', { size: 1 }, 'Check the submitted values.'],
    [
      400,
      'invalid QUERY body',
      'QUERY /rows',
      { where: 1 },
      `Unknown key 'where' in QUERY body. ${keys}`,
    ],
    [
      400,
      'invalid cursor',
      'GET /walk?cursor=x',
      undefined,
      'Cursor is not a valid pagination token.',
    ],
    [400, 'cursor to a page server', 'GET /rows?cursor=x', undefined, paged],
    [400, 'page to a cursor server', 'GET /walk?page=1', undefined, walked],
    [400, 'deep offset page beyond maxPage', 'GET /rows?page=4', undefined, deep],
    [404, 'no record with that id', `GET /rows/${ABSENT}`, undefined, 'Entry not found.'],
    [404, 'no record with that id', `PATCH /rows/${ABSENT}`, { name: 'z' }, 'Entry not found.'],
    [404, 'no record with that id', `DELETE /rows/${ABSENT}`, undefined, 'Entry not found.'],
    [404, 'QUERY on /:id', `QUERY /rows/${ABSENT}`, {}, 'Not found.'],
    [
      405,
      'method refused by a read-only guard',
      'POST /shown',
      { name: 'z' },
      'Method not allowed.',
    ],
    [
      405,
      'method refused by a read-only guard',
      `DELETE /shown/${ABSENT}`,
      undefined,
      'Method not allowed.',
    ],
    [
      409,
      'unique field already has the value',
      'POST /rows',
      { name: 'z', code: 'a' },
      'Duplicate value for: code.',
    ],
  ])('7 Errors: %i %s, %s', async (status, _when, asked, json, error) => {
    const { send, app } = await rows()
    const [method = '', path = ''] = asked.split(' ')
    const answer = await send(method, path, json ? { json } : {})
    expect(answer.body).toMatchObject({ success: false, error, requestId: expect.any(String) })
    expect(answer.status).toBe(status)
    expect(await app.store.collection(Row).count()).toBe(5)
  })
})

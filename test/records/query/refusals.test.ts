import { describe, expect, test } from 'vitest'
import { expectRefused, type ItemOptions, names, open, type Shop } from '../lists/shop.ts'
import type { Answer } from '../service.ts'

const FIELDS = ['name', 'size', 'done', 'at', 'kind', 'maker', 'makers', 'tags', 'any'] as const
const OPTIONS: ItemOptions = {
  query: [...FIELDS, 'place.row'],
  sortableFields: ['name', 'size', 'done', 'at', 'kind', 'note', 'place.row'],
  search: ['name'],
}
const KEYS = 'filter, search, sort, page, pageSize, limit, cursor, select, expand, aggregate, by'
const OPERATORS = 'eq, ne, gt, gte, lt, lte, in, nin'

const opened = (options: ItemOptions = {}): Promise<Shop> =>
  open({ ...OPTIONS, ...options }, [{ name: 'a' }, { name: 'b' }])

/** Sends a text that says to be JSON. */
const raw = (shop: Shop, body: string): Promise<Answer> =>
  shop.send('QUERY', '/items', { body, headers: { 'content-type': 'application/json' } })

describe('4.1 QUERY refusals: a body that is no object', () => {
  test.each(['[]', '[{}]', '"x"', '""', '1', 'true', 'null'])(
    'the body %s is a 400',
    async (body) => {
      const shop = await opened()
      expectRefused(shop, await raw(shop, body), 'QUERY body must be a JSON object.')
    },
  )

  test.each([
    ['10,000 objects in one another', `${'{"filter":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['100,000 lists in one another', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['half an object', '{"filter":{'],
  ])('answers, Envelope and errors: %s is no valid JSON', async (_title, body) => {
    const shop = await opened()
    expectRefused(shop, await raw(shop, body), 'Request body is not valid JSON.')
  })

  test('8 Limits: a body over maxBodySize is a 413', async () => {
    const shop = await open(OPTIONS, [], { maxBodySize: 100 })
    const body = { search: 'x'.repeat(100) }
    expectRefused(shop, await shop.ask(body), 'Request body exceeds the limit of 100 bytes.', 413)
    expect((await shop.ask({ search: 'x'.repeat(80) })).status).toBe(200)
  })
})

describe('4.1 QUERY refusals: unknown top-level key', () => {
  test.each([
    'where',
    'Filter',
    'skip',
    'populate',
    '$where',
    'filter.size',
    '',
    '__proto__',
    'constructor',
    'toString',
    'size',
  ])('the key %j is a 400 that names the allowed ones', async (key) => {
    const shop = await opened()
    const error = `Unknown key '${key}' in QUERY body. Allowed: ${KEYS}.`
    expectRefused(shop, await raw(shop, `{${JSON.stringify(key)}:{"a":1}}`), error)
    // Beside valid keys, and without a value, too.
    expectRefused(shop, await raw(shop, `{"page":1,${JSON.stringify(key)}:null}`), error)
  })
})

describe('4.1 QUERY refusals: filter', () => {
  test.each([[[]], [[{ name: 'a' }]], ['name'], [''], [1], [0], [true], [false]])(
    'answers, QUERY: the filter %j is no object',
    async (filter) => {
      const shop = await opened()
      expectRefused(shop, await shop.ask({ filter }), "'filter' must be a JSON object.")
    },
  )

  test.each([
    'note',
    'secret',
    'vault',
    'vault.pin',
    'place.row',
    'place',
    'maker.name',
    '$or',
    '$where',
    '$expr',
    '$name',
    'name.$ne',
    '.name',
    'name.',
    '',
    ' name',
    'Name',
    'nothing',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '_id',
    'createdAt',
    "name' OR 1=1 --",
    'name\u0000',
  ])('a filter on the field %j, not in filterableFields, is a 400', async (field) => {
    const shop = await opened()
    const error = `Field '${field}' is not filterable.`
    const key = JSON.stringify(field)
    for (const condition of ['1', '{"eq":1}', '[1]', 'null', '{}', '{"$ne":1}']) {
      expectRefused(shop, await raw(shop, `{"filter":{${key}:${condition}}}`), error)
      expectRefused(shop, await raw(shop, `{"filter":{"name":"a",${key}:${condition}}}`), error)
    }
  })

  test('4.1 QUERY body: dotted and $ names stay refused when the router lists the dotted field', async () => {
    const shop = await opened({ filterableFields: ['place.row', 'size'] })
    const body = { filter: { 'place.row': 1 } }
    expectRefused(shop, await shop.ask(body), "Field 'place.row' is not filterable.")
    expectRefused(
      shop,
      await shop.ask({ filter: { name: 'a' } }),
      "Field 'name' is not filterable.",
    )
    expect((await shop.ask({ filter: { size: 1 } })).status).toBe(200)
  })

  test('answers, QUERY: an object without operators has no conditions', async () => {
    const shop = await opened()
    expectRefused(
      shop,
      await shop.ask({ filter: { size: {} } }),
      "Filter 'size' has no conditions.",
    )
  })

  test.each([
    '$eq',
    '$ne',
    '$gt',
    '$in',
    '$regex',
    '$where',
    'EQ',
    'neq',
    'not',
    'like',
    'regex',
    'or',
    'and',
    'exists',
    'between',
    '',
    ' eq',
    '__proto__',
    'constructor',
    'toString',
  ])('the operator %j is a 400 that names the allowed ones', async (operator) => {
    const shop = await opened()
    const error = `Unknown operator '${operator}' on 'size'. Allowed: ${OPERATORS}.`
    const key = JSON.stringify(operator)
    expectRefused(shop, await raw(shop, `{"filter":{"size":{${key}:1}}}`), error)
    expectRefused(shop, await raw(shop, `{"filter":{"size":{"gt":0,${key}:{"eq":1}}}}`), error)
  })

  test.each(['eq', 'ne', 'gt', 'gte', 'lt', 'lte'])(
    'answers, QUERY: %s expects a single value',
    async (operator) => {
      const shop = await opened()
      const error = `Operator '${operator}' on 'size' expects a single value.`
      for (const value of [[], [1], {}, { eq: 1 }, { $ne: 1 }, [[1]]]) {
        expectRefused(shop, await shop.ask({ filter: { size: { [operator]: value } } }), error)
      }
    },
  )

  test.each(['in', 'nin'])('answers, QUERY: %s expects a list of scalars', async (operator) => {
    const shop = await opened()
    const refused = async (value: unknown, complaint: string) => {
      const answer = await shop.ask({ filter: { size: { [operator]: value } } })
      expectRefused(shop, answer, `Operator '${operator}' on 'size' ${complaint}.`)
    }
    for (const value of [1, '1', '1,2', true, null, {}, { eq: 1 }, { 0: 1, length: 1 }]) {
      await refused(value, 'expects a list')
    }
    await refused([], 'expects a non-empty list')
    for (const value of [[{}], [[]], [1, { eq: 1 }], [1, [2]], [{ $ne: 1 }]]) {
      await refused(value, 'expects scalar values')
    }
  })

  test('answers, QUERY: a list is any-of, and refused like it', async () => {
    const shop = await opened()
    const refused = async (value: unknown, complaint: string) =>
      expectRefused(
        shop,
        await shop.ask({ filter: { size: value } }),
        `Operator 'in' on 'size' ${complaint}.`,
      )
    await refused([], 'expects a non-empty list')
    await refused([1, {}], 'expects scalar values')
    await refused([[1]], 'expects scalar values')
  })

  test('8 Limits, QUERY in / nin values: 100 are taken, 101 refused', async () => {
    const shop = await opened()
    const hundred = Array.from({ length: 100 }, (_, at) => at)
    for (const operator of ['in', 'nin']) {
      expect((await shop.ask({ filter: { size: { [operator]: hundred } } })).status).toBe(200)
    }
    expect((await shop.ask({ filter: { size: hundred } })).status).toBe(200)
    shop.store.taken()
    // Repeated values count: the limit bounds what is read.
    for (const values of [
      [...hundred, 100],
      [...hundred, 1],
    ]) {
      for (const operator of ['in', 'nin']) {
        const answer = await shop.ask({ filter: { size: { [operator]: values } } })
        expectRefused(shop, answer, `Operator '${operator}' on 'size' exceeds 100 values.`)
      }
      const answer = await shop.ask({ filter: { size: values } })
      expectRefused(shop, answer, "Operator 'in' on 'size' exceeds 100 values.")
    }
  })

  test.each([
    ['size', ['abc', '', ' 1', '1 ', '0x1', '1,5', 'NaN', 'Infinity', true, false]],
    ['done', ['maybe', '', '2', 2, -1, 'truee']],
    ['at', ['yesterday', '', '2024-13-01', '2024-02-30', true, false, 1e300]],
    ['maker', ['x', '', 1, true, '0123456789abcdef0123456', '0123456789abcdef01234567a']],
    ['makers', ['x', 1, true]],
  ] as const)(
    'answers, Envelope: a value that %s cannot be cast from is a 400',
    async (field, values) => {
      const shop = await opened()
      const error = `Invalid value for ${field}.`
      for (const value of values) {
        for (const condition of [value, [value], { ne: value }, { gte: value }, { nin: [value] }]) {
          expectRefused(shop, await shop.ask({ filter: { [field]: condition } }), error)
        }
      }
    },
  )
})

describe('4.1 QUERY refusals: sort', () => {
  test.each([[1], [true], [{}], [{ name: 1 }], [[1]], [[null]], [['name', {}]], [[['name']]]])(
    'answers, QUERY: the sort %j is neither a name nor a list of them',
    async (sort) => {
      const shop = await opened()
      const error = "'sort' must be a field name, or a list of them."
      expectRefused(shop, await shop.ask({ sort }), error)
    },
  )

  test.each([
    ['tags', 'tags'],
    ['-any', 'any'],
    ['secret', 'secret'],
    ['-vault.pin', 'vault.pin'],
    ['--name', '-name'],
    ['+name', '+name'],
    ['-', ''],
    ['name,size', 'name,size'],
    ['$natural', '$natural'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['maker.name', 'maker.name'],
    ['_id', '_id'],
  ])('a sort by %j, not in sortableFields, is a 400', async (name, field) => {
    const shop = await opened()
    const error = `Field '${field}' is not sortable.`
    expectRefused(shop, await shop.ask({ sort: name }), error)
    expectRefused(shop, await shop.ask({ sort: ['name', name] }), error)
  })

  test('8 Limits, QUERY sort keys: 5 are taken, 6 refused', async () => {
    const shop = await opened()
    const five = ['name', '-size', 'done', '-at', 'kind']
    expect((await shop.ask({ sort: five })).status).toBe(200)
    shop.store.taken()
    const answer = await shop.ask({ sort: [...five, 'note'] })
    expectRefused(shop, answer, "'sort' accepts at most 5 fields.")
  })
})

describe('4.1 QUERY refusals: search', () => {
  test.each([[1], [0], [true], [false], [{}], [['a']], [[]], [{ $regex: 'a' }]])(
    'answers, QUERY: the search %j is no string',
    async (search) => {
      const shop = await opened()
      expectRefused(shop, await shop.ask({ search }), 'Search term must be a string.')
    },
  )

  test('8 Limits, maxSearchLength: 128 characters are taken, 129 refused', async () => {
    const shop = await opened()
    expect((await shop.ask({ search: 'x'.repeat(128) })).status).toBe(200)
    shop.store.taken()
    const answer = await shop.ask({ search: 'x'.repeat(129) })
    expectRefused(shop, answer, 'Search term exceeds 128 characters.')
  })
})

describe('4.1 QUERY refusals: page, pageSize, limit and cursor', () => {
  test.each(['page', 'pageSize', 'limit'])(
    '%s given as a string, or no positive integer',
    async (key) => {
      const shop = await opened()
      const error = `'${key}' must be a positive integer.`
      for (const text of [
        '"1"',
        '""',
        '0',
        '-1',
        '1.5',
        'true',
        'false',
        '[]',
        '[1]',
        '{}',
        '1e400',
      ]) {
        expectRefused(shop, await raw(shop, `{"${key}":${text}}`), error)
      }
    },
  )

  test('answers, QUERY: limit beside page or pageSize', async () => {
    const shop = await opened()
    const error = "Use either 'limit' or 'page'/'pageSize', not both."
    for (const body of [
      { limit: 1, page: 1 },
      { limit: 1, pageSize: 1 },
      { limit: 1, page: 1, pageSize: 1 },
    ]) {
      expectRefused(shop, await shop.ask(body), error)
    }
  })

  test.each([[1], [true], [[]], [['x']], [{}]])(
    'answers, QUERY: the cursor %j is no string',
    async (cursor) => {
      for (const pagination of ['cursor', 'offset'] as const) {
        const shop = await opened({ pagination })
        expectRefused(shop, await shop.ask({ cursor }), "'cursor' must be a string.")
      }
    },
  )

  test('4.1 Cursor pagination, rule 4: page to a cursor server, cursor to an offset server', async () => {
    const cursors = await opened({ pagination: 'cursor' })
    expectRefused(
      cursors,
      await cursors.ask({ page: 1 }),
      "This endpoint paginates by cursor. Omit 'page' for the first page, then follow 'pagination.nextCursor'.",
    )
    const pages = await opened()
    const error = "This endpoint paginates by page. Use 'page' and 'pageSize'."
    expectRefused(pages, await pages.ask({ cursor: 'x' }), error)
    expectRefused(pages, await pages.ask({ cursor: 'x', page: 1 }), error)
  })

  test('8 Limits, maxPage: a deeper page, or one past the exact numbers, is a 400', async () => {
    const shop = await opened({ maxPage: 3 })
    const tail = 'Narrow the filter, or page with a cursor instead.'
    expect((await shop.ask({ page: 3 })).status).toBe(200)
    shop.store.taken()
    expectRefused(shop, await shop.ask({ page: 4 }), `Page 4 is beyond the maximum of 3. ${tail}`)
    const free = await opened()
    const answer = await free.ask({ page: 2 ** 53, pageSize: 2 })
    expectRefused(
      free,
      answer,
      `Page ${2 ** 53} is beyond the maximum of ${Math.floor((2 ** 53 - 1) / 2)}. ${tail}`,
    )
  })
})

describe('4.1 QUERY refusals: 415, not parsed as JSON', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json-seq',
    'application/+json',
    'application/xml',
    'json',
    '*/*',
  ])('a body sent as %s, with Accept-Query', async (type) => {
    const shop = await opened()
    const headers = { 'content-type': type }
    const answer = await shop.send('QUERY', '/items', { body: '{}', headers })
    expectRefused(shop, answer, 'QUERY body must be sent as application/json.', 415)
    expect(answer.headers.get('accept-query')).toBe('application/json')
  })

  test('answers, QUERY: a body without a Content-Type', async () => {
    const shop = await opened()
    const body = new TextEncoder().encode('{"limit":1}')
    const answer = await shop.send('QUERY', '/items', { body })
    expectRefused(shop, answer, 'QUERY body must be sent as application/json.', 415)
    expect(answer.headers.get('accept-query')).toBe('application/json')
  })

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/vnd.api+json',
    'application/problem+json; x=y',
  ])('answers, QUERY: %s is taken', async (type) => {
    const shop = await opened()
    const headers = { 'content-type': type }
    const answer = await shop.send('QUERY', '/items', { body: '{"limit":1}', headers })
    expect(names(answer)).toEqual(['a'])
  })
})

import assert from 'node:assert/strict'
import { readCities, readCountries } from '../../../examples/atlas/source.ts'
import { type Checks, namesIn, ok, refused } from '../check.ts'

const CODES = ['BR', 'CH', 'DE', 'IN', 'JP', 'SE', 'TR', 'US']

/** The routes of a resource; the first check makes the records that all others see. */
export const records: Checks = {
  '4.1 POST answers 201 with the record and its Location': async ({ ask }, world) => {
    for (const country of readCountries().filter(({ code }) => CODES.includes(code))) {
      const created = ok(await ask('POST', '/countries', { json: country }), 201)
      const id = created.body.data._id
      assert.equal(created.headers.get('location'), `/countries/${id}`)
      world.countries.set(country.code, id)
    }
    const some = readCities(world.countries)
      .toSorted((a, b) => (b.population ?? 0) - (a.population ?? 0))
      .slice(0, 120)
      .map(({ geonameId, ...values }) => values)
    for (const json of some.slice(0, 20)) {
      const { data } = ok(await ask('POST', '/cities', { json }), 201).body
      assert.equal(data.name, json.name)
      assert.match(data.createdAt, /^\d{4}-/)
      world.cities.set(json.name, data._id)
    }
    const others = some.slice(20)
    const operations = others.map((body) => ({ method: 'POST', path: '/cities', body }))
    const { data } = ok(await ask('POST', '/batch', { json: { operations } })).body
    for (const [at, { status, body }] of data.entries()) {
      assert.deepEqual([status, body.data.name], [201, others[at]?.name])
      world.cities.set(body.data.name, body.data._id)
    }
  },
  '4.1 GET of a record': async ({ ask }, { cities }) => {
    const one = ok(await ask('GET', `/cities/${cities.get('São Paulo')}`))
    assert.equal(one.body.data.name, 'São Paulo')
    assert.match(one.headers.get('content-type') ?? '', /^application\/json/)
  },
  '4.1 equality, any-of and several fields at once': async ({ ask }, { countries }) => {
    const [br, jp] = [countries.get('BR'), countries.get('JP')]
    const both = ok(await ask('GET', `/cities?country=${br}&country=${jp}`))
    const one = ok(await ask('GET', `/cities?country=${br}`))
    assert.ok(both.body.data.length > one.body.data.length)
    assert.deepEqual(namesIn(await ask('GET', `/cities?country=${jp}&capital=yes`)), ['Tokyo'])
  },
  '4.1 range and compare': async ({ ask }) => {
    const range = ok(await ask('GET', '/cities?rangeField=population&range=9000000-12000000'))
    for (const { population } of range.body.data) assert.ok(population >= 9e6 && population <= 12e6)
    ok(await ask('GET', '/cities?rangeField=population&range=12000000-'))
    ok(await ask('GET', '/cities?compareField=latitude&compareOperator=lt&compareValue=-20'))
    refused(await ask('GET', '/cities?rangeField=population&range=abc'), 400, 'Invalid range.')
    refused(
      await ask('GET', '/cities?rangeField=name&range=1-2'),
      400,
      "Field 'name' is not filterable.",
    )
  },
  '4.1 search ignores case for all of Unicode, through references too': async ({ ask }) => {
    assert.deepEqual(namesIn(await ask('GET', '/cities?s=S%C3%83O%20PAULO')), ['São Paulo'])
    assert.ok(namesIn(await ask('GET', '/cities?search=japan')).includes('Tokyo'))
    assert.deepEqual(namesIn(await ask('GET', '/cities?s=100%25')), [])
    refused(
      await ask('GET', `/cities?s=${'x'.repeat(129)}`),
      400,
      'Search term exceeds 128 characters.',
    )
  },
  '4.1 sort by one allowed field': async ({ ask }) => {
    const sorted = namesIn(await ask('GET', '/cities?sort=name'))
    assert.deepEqual(
      sorted,
      sorted.toSorted((a, b) => (a < b ? -1 : 1)),
    )
    refused(await ask('GET', '/cities?sort=latitude'), 400, "Field 'latitude' is not sortable.")
    refused(
      await ask('GET', '/cities?sort=name&sort=-name'),
      400,
      'Sort must be a single field name.',
    )
  },
  '2.3 offset pagination': async ({ ask }) => {
    const page = ok(await ask('GET', '/cities?page=2&pageSize=50'))
    assert.deepEqual(page.body.pagination, {
      currentPage: 2,
      pageSize: 50,
      totalPages: 3,
      totalRecords: 120,
    })
    assert.equal(page.body.data.length, 50)
    assert.deepEqual(ok(await ask('GET', '/cities?page=9')).body.data, [])
    assert.equal(ok(await ask('GET', '/cities')).body.data.length, 100)
    refused(
      await ask('GET', '/cities?cursor=abc'),
      400,
      "This endpoint paginates by page. Use 'page' and 'pageSize'.",
    )
  },
  '4.1 a walk by cursor visits every record once': async ({ ask }) => {
    const seen: string[] = []
    let path = '/feed/cities?pageSize=25'
    for (;;) {
      const { body } = ok(await ask('GET', path))
      seen.push(...body.data.map((record: { _id: string }) => record._id))
      if (body.pagination.nextCursor === null) break
      path = `/feed/cities?pageSize=25&cursor=${body.pagination.nextCursor}`
    }
    assert.equal(new Set(seen).size, 120)
    assert.equal(seen.length, 120)
    refused(
      await ask('GET', '/feed/cities?cursor=abc'),
      400,
      'Cursor is not a valid pagination token.',
    )
  },
  '4.1 QUERY with a body, without one, and with its refusals': async ({ ask }) => {
    const json = {
      filter: { capital: true, population: { gte: 1e6 } },
      sort: ['-population'],
      limit: 2,
    }
    assert.equal(namesIn(await ask('QUERY', '/cities', { json })).length, 2)
    assert.equal(ok(await ask('QUERY', '/cities')).body.data.length, 100)
    refused(
      await ask('QUERY', '/cities', { json: { filter: { population: { $gt: 1 } } } }),
      400,
      "Unknown operator '$gt' on 'population'. Allowed: eq, ne, gt, gte, lt, lte, in, nin.",
    )
    const text = { body: '{}', headers: { 'Content-Type': 'text/plain' } }
    const unsupported = await ask('QUERY', '/cities', text)
    refused(unsupported, 415, 'QUERY body must be sent as application/json.')
    assert.equal(unsupported.headers.get('accept-query'), 'application/json')
  },
  'beyond 4 a QUERY counts records, and groups them by nothing that is not listed': async ({
    ask,
  }) => {
    const json = { aggregate: { count: true }, filter: { capital: true, population: { gte: 1e6 } } }
    const counted = ok(await ask('QUERY', '/cities', { json })).body
    const listed = ok(await ask('QUERY', '/cities', { json: { filter: json.filter } })).body
    assert.deepEqual(counted.data, [{ count: listed.data.length }])
    assert.deepEqual(counted.pagination, { hasMore: false })
    refused(
      await ask('QUERY', '/cities', { json: { ...json, by: ['latitude'] } }),
      400,
      "Field 'latitude' cannot be grouped by.",
    )
  },
  'beyond 4 a list takes alternatives, chooses fields, fills in references, and is a file': async (
    { ask },
    { base },
  ) => {
    const or = [{ population: { gte: 5e6 } }, { capital: true, latitude: { gte: 60 } }]
    const json = { filter: { or }, select: ['name', 'country.name'], expand: ['country'] }
    const { data } = ok(await ask('QUERY', '/cities', { json })).body
    assert.ok(data.length > 0)
    for (const city of data) {
      assert.deepEqual(Object.keys(city).sort(), ['_id', 'country', 'name'])
      assert.equal(typeof city.country.name, 'string')
    }
    const file = async (accept: string) => {
      const headers = { accept, 'content-type': 'application/json' }
      const body = JSON.stringify(json)
      const response = await fetch(`${base}/cities`, { method: 'QUERY', headers, body })
      assert.equal(response.status, 200)
      assert.ok(response.headers.get('content-type')?.startsWith(accept))
      return (await response.text()).trim().split(/\r?\n/)
    }
    const lines = await file('application/x-ndjson')
    const names = lines.map((line) => JSON.parse(line).name)
    assert.deepEqual(
      names.slice(0, data.length),
      data.map(({ name }: { readonly name: string }) => name),
    )
    const [header, ...rows] = await file('text/csv')
    assert.equal(header, '_id,name,country._id,country.name')
    assert.equal(rows.length, lines.length)
    refused(await ask('GET', '/cities?select=nothing'), 400, "Field 'nothing' cannot be selected.")
  },
  'next 5 a POST that says it is a QUERY is one, where the router takes it': async ({ ask }) => {
    const json = { filter: { population: { gte: 1_000_000 } }, pageSize: 2 }
    const headers = { 'X-HTTP-Method-Override': 'QUERY' }
    const query = ok(await ask('QUERY', '/cities', { json }))
    const posted = ok(await ask('POST', '/cities', { json, headers }))
    assert.equal(posted.text, query.text)
    for (const name of ['etag', 'cache-control']) {
      assert.equal(posted.headers.get(name), query.headers.get(name))
    }
    const total = async () => (await ask('GET', '/countries?page=1')).body.pagination.totalRecords
    const before = await total()
    const [country] = readCountries()
    const refusedPost = await ask('POST', '/countries', {
      json: { ...country, code: 'XX' },
      headers,
    })
    refused(refusedPost, 405, 'Method not allowed.')
    assert.equal(refusedPost.headers.get('allow'), 'GET, HEAD, POST, QUERY')
    for (const method of ['DELETE', 'PATCH', 'GET', 'query']) {
      const other = { 'X-HTTP-Method-Override': method }
      refused(await ask('POST', '/cities', { json, headers: other }), 405, 'Method not allowed.')
    }
    assert.equal(await total(), before)
  },
  '4.1 QUERY and the equivalent GET answer the same body': async ({ ask }) => {
    const get = await ask('GET', '/cities?s=a&page=1&pageSize=10&sort=-population')
    const json = { search: 'a', page: 1, pageSize: 10, sort: '-population' }
    assert.equal((await ask('QUERY', '/cities', { json })).text, get.text)
  },
  '4.1 onGet populates references': async ({ ask }, { cities }) => {
    const one = ok(await ask('GET', `/cities/${cities.get('Tokyo')}?with=country`))
    assert.equal(one.body.data.country.name, 'Japan')
  },
  '4.1 PATCH keeps the other fields; refusals change nothing': async ({ ask }, { cities }) => {
    const path = `/cities/${cities.get('Tokyo')}`
    const before = ok(await ask('GET', path)).body.data
    const after = ok(await ask('PATCH', path, { json: { population: '1', _id: 'x', $set: 1 } }))
      .body.data
    assert.deepEqual(
      { ...after, population: 0, updatedAt: 0 },
      { ...before, population: 0, updatedAt: 0 },
    )
    assert.equal(after.population, 1)
    refused(
      await ask('PATCH', path, { json: { population: -1 } }),
      400,
      'Check the submitted values.',
    )
    refused(
      await ask('PATCH', path, { json: { nope: 1 } }),
      400,
      'Request body contains no writable fields.',
    )
    assert.equal(ok(await ask('GET', path)).body.data.population, 1)
  },
}

/** The last ones: they delete. */
export const endings: Checks = {
  '4.1 DELETE answers a message, then 404': async ({ ask }, { cities }) => {
    const path = `/cities/${cities.get('Tokyo')}`
    assert.equal(ok(await ask('DELETE', path)).body.message, 'Item successfully deleted.')
    refused(await ask('GET', path), 404, 'Entry not found.')
    refused(await ask('DELETE', path), 404, 'Entry not found.')
  },
  'answers in parallel carry only their own record': async ({ ask }, { cities }) => {
    const some = [...cities].filter(([name]) => name !== 'Tokyo').slice(0, 50)
    const answers = await Promise.all(some.map(([, id]) => ask('GET', `/cities/${id}`)))
    assert.deepEqual(
      answers.map(({ body }) => body.data.name),
      some.map(([name]) => name),
    )
  },
}

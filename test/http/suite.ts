/**
 * The black-box suite: it knows a base URL alone, under which an empty atlas is served. Section names are the
 * contract's.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { readCities, readCountries } from '../../examples/atlas/source.ts'
import type { Answer, Client } from './client.ts'

/** A check of one rule; checks run in order, on the records that the first one makes. */
export type Check = (client: Client, world: World) => Promise<void>

/** What earlier checks made. */
export interface World {
  readonly base: string
  /** Ids by country code. */
  readonly countries: Map<string, string>
  /** Ids by city name. */
  readonly cities: Map<string, string>
  /** Tokens by whose they are. */
  readonly tokens: Map<string, string>
}

const CODES = ['BR', 'CH', 'DE', 'IN', 'JP', 'SE', 'TR', 'US']

const ok = (answer: Answer, status = 200): Answer => {
  assert.equal(answer.status, status, answer.text)
  if (answer.body) assert.equal(answer.body.success, status < 400)
  return answer
}

const refused = (answer: Answer, status: number, error: string): void => {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body?.error, error)
  assert.equal(answer.body.success, false)
  assert.equal(answer.body.requestId, answer.headers.get('x-request-id'))
}

const bearer = (token: string | undefined) => ({ headers: { Authorization: `Bearer ${token}` } })

const namesIn = (answer: Answer): string[] =>
  ok(answer).body.data.map((record: { name: string }) => record.name)

/** The checks by the sentence that each one shows. */
export const suite: Readonly<Record<string, Check>> = {
  '4.1 POST answers 201 with the record and its Location': async ({ ask }, world) => {
    for (const country of readCountries().filter(({ code }) => CODES.includes(code))) {
      const created = ok(await ask('POST', '/countries', { json: country }), 201)
      const id = created.body.data._id
      assert.equal(created.headers.get('location'), `/countries/${id}`)
      world.countries.set(country.code, id)
    }
    for (const city of readCities(world.countries)
      .toSorted((a, b) => (b.population ?? 0) - (a.population ?? 0))
      .slice(0, 120)) {
      const { geonameId, ...values } = city
      const created = ok(await ask('POST', '/cities', { json: values }), 201)
      assert.equal(created.body.data.name, city.name)
      assert.match(created.body.data.createdAt, /^\d{4}-/)
      world.cities.set(city.name, created.body.data._id)
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
  '7 malformed and unknown ids': async ({ ask }) => {
    for (const method of ['GET', 'DELETE']) {
      refused(await ask(method, '/cities/xyz'), 400, 'Invalid ID format.')
      refused(await ask(method, `/cities/${'0'.repeat(24)}`), 404, 'Entry not found.')
    }
  },
  '7 a unique value that is taken is a 409 that names the field': async ({ ask }) => {
    const [country] = readCountries().filter(({ code }) => code === 'JP')
    const twice = await ask('POST', '/countries', { json: country })
    refused(twice, 409, 'Duplicate value for: code.')
    assert.deepEqual(twice.body.fields, { code: 'Already exists.' })
  },
  '7 bodies: invalid JSON, no JSON, too large, too deep': async ({ ask }) => {
    const send = (body: BodyInit, type = 'application/json') =>
      ask('POST', '/cities', { body, headers: { 'Content-Type': type } })
    refused(await send('{"name":'), 400, 'Request body is not valid JSON.')
    refused(await send(new Uint8Array([0x22, 0xff, 0x22])), 400, 'Request body is not valid JSON.')
    refused(
      await send('{}', 'application/xml'),
      415,
      'Request body must be sent as application/json.',
    )
    refused(await send('[]'), 400, 'Request body contains no writable fields.')
    assert.equal((await send(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)).status, 400)
  },
  '8 a body over the limit is a 413': async ({ ask }) => {
    const large = JSON.stringify({ name: 'x'.repeat(1024 * 1024) })
    const answer = await ask('POST', '/cities', {
      body: large,
      headers: { 'Content-Type': 'application/json' },
    })
    refused(answer, 413, 'Request body exceeds the limit of 1048576 bytes.')
  },
  '4.1 OPTIONS tells the methods; HEAD answers as GET, without a body': async (
    { ask },
    { cities },
  ) => {
    const options = await ask('OPTIONS', '/cities')
    assert.equal(options.headers.get('allow'), 'GET, HEAD, POST, QUERY')
    assert.equal(options.headers.get('accept-query'), 'application/json')
    const one = await ask('OPTIONS', `/cities/${cities.get('Tokyo')}`)
    assert.equal(one.headers.get('allow'), 'DELETE, GET, HEAD, PATCH')
    const head = await ask('HEAD', '/cities?sort=name')
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.equal((await ask('HEAD', '/cities?sort=nope')).status, 400)
  },
  '4.1 unknown methods and paths are a 404 in the envelope': async ({ ask }, { cities }) => {
    const id = cities.get('Tokyo')
    refused(await ask('PUT', `/cities/${id}`, { json: {} }), 404, 'Not found.')
    refused(await ask('QUERY', `/cities/${id}`, { json: {} }), 404, 'Not found.')
    for (const path of ['/nope', '/', '/cities/x/y', '/Cities']) {
      refused(await ask('GET', path), 404, 'Not found.')
    }
  },
  'K1 odd spellings of a path are answered alike, and never pass for another path': async (
    _,
    { base, cities },
  ) => {
    const id = cities.get('Tokyo')
    const statuses: Record<string, number> = {}
    for (const target of [
      '//cities',
      '/cities/',
      '/%63ities',
      '/./cities',
      '/x/../cities',
      '/cities%2Fid',
      '/cities;a',
      '/cities\\x',
      '/CITIES',
      `${base}/cities`,
    ]) {
      statuses[target.replace(base, '<base>')] = await rawStatus(base, `GET ${target} HTTP/1.1`)
    }
    assert.equal(await rawStatus(base, `GET /cities%2F${id} HTTP/1.1`), 404)
    assert.deepEqual(statuses, {
      '//cities': 404,
      '/cities/': 200,
      '/%63ities': 404,
      '/./cities': 200,
      '/x/../cities': 200,
      '/cities%2Fid': 404,
      '/cities;a': 404,
      '/cities\\x': 400,
      '/CITIES': 404,
      '<base>/cities': 200,
    })
  },
  'K2 odd methods write nothing': async ({ ask }, { base, cities }) => {
    const path = `/cities/${cities.get('Tokyo')}`
    for (const method of ['delete', 'Delete', 'FOO', 'TRACE']) {
      const status = await rawStatus(base, `${method} ${path} HTTP/1.1`)
      // 0: the connection was closed without an answer, which is Bun's way.
      assert.ok([0, 400, 404, 405, 501].includes(status), `${method}: ${status}`)
    }
    const override = { headers: { 'X-HTTP-Method-Override': 'DELETE' } }
    assert.equal((await ask('POST', `${path}?_method=DELETE`, override)).status, 404)
    ok(await ask('GET', path))
  },
  'answers: X-Request-Id is taken over when it is well formed, made otherwise': async ({ ask }) => {
    const given = await ask('GET', '/nope', { headers: { 'X-Request-Id': 'abc-1' } })
    assert.equal(given.body.requestId, 'abc-1')
    const odd = await ask('GET', '/nope', { headers: { 'X-Request-Id': 'a b' } })
    assert.match(odd.body.requestId, /^[0-9a-f-]{36}$/)
  },
  'K5 a client that goes away leaves the server answering': async ({ ask }, { base }) => {
    const { hostname, port } = new URL(base)
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(Number(port), hostname)
        await new Promise((resolve) => socket.once('connect', resolve))
        socket.write(
          'POST /cities HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"na',
        )
        socket.destroy()
      }),
    )
    ok(await ask('GET', '/cities?page=1&pageSize=1'))
  },
  '4.5 sign-up, sign-in and me; refusals tell nothing': async ({ ask }, world) => {
    const json = { email: 'Ann@Example.com', password: 'correct horse', name: 'Ann', role: 'admin' }
    const created = ok(await ask('POST', '/auth/register', { json }), 201).body.data
    assert.deepEqual([created.user.email, created.user.role], ['ann@example.com', 'user'])
    assert.equal(created.expiresIn, 900)
    world.tokens.set('ann', created.token)
    world.tokens.set('ann refresh', created.refreshToken)
    const me = ok(await ask('GET', '/auth/me', bearer(created.token)))
    assert.equal(me.body.data.name, 'Ann')
    assert.ok(!me.text.includes('scrypt'))
    refused(
      await ask('POST', '/auth/register', { json }),
      409,
      'An account with those details already exists.',
    )
    const wrong = await ask('POST', '/auth/login', {
      json: { identifier: json.email, password: 'wrong horse' },
    })
    const unknown = await ask('POST', '/auth/login', {
      json: { identifier: 'b@c.de', password: 'wrong horse' },
    })
    refused(wrong, 401, 'Invalid credentials.')
    refused(unknown, 401, 'Invalid credentials.')
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer')
    const operator = { identifier: json.email, password: { $ne: null } }
    refused(
      await ask('POST', '/auth/login', { json: operator }),
      400,
      'Invalid credentials format.',
    )
    ok(
      await ask('POST', '/auth/login', {
        json: { identifier: json.email, password: json.password },
      }),
    )
  },
  '3.1 a refresh rotates the token, and every failure looks alike': async ({ ask }, { tokens }) => {
    const refreshToken = tokens.get('ann refresh')
    const first = ok(await ask('POST', '/auth/token/refresh', { json: { refreshToken } })).body.data
    assert.notEqual(first.refreshToken, refreshToken)
    const again = ok(await ask('POST', '/auth/token/refresh', { json: { refreshToken } })).body.data
    assert.equal(again.refreshToken, first.refreshToken)
    for (const other of ['abc', `${refreshToken}x`, tokens.get('ann')]) {
      const failed = await ask('POST', '/auth/token/refresh', { json: { refreshToken: other } })
      refused(failed, 401, 'Invalid or expired refresh token.')
    }
    ok(await ask('POST', '/auth/logout', { json: { refreshToken: first.refreshToken } }))
    const ended = await ask('POST', '/auth/token/refresh', {
      json: { refreshToken: first.refreshToken },
    })
    refused(ended, 401, 'Invalid or expired refresh token.')
  },
  '5.1 guards: no token, a bad one, the wrong role': async ({ ask }, { tokens }) => {
    refused(await ask('GET', '/favourites'), 401, 'Authentication required.')
    refused(await ask('GET', '/favourites', bearer('abc')), 401, 'Invalid or expired token.')
    const users = await ask('GET', '/auth/users', bearer(tokens.get('ann')))
    refused(users, 403, 'You do not have access to this resource.')
  },
  'answers: scope keeps the records of others out of reach': async (
    { ask },
    { cities, tokens },
  ) => {
    const json = { email: 'bob@example.com', password: 'battery staple' }
    const bob = ok(await ask('POST', '/auth/register', { json }), 201).body.data
    const favourite = { city: cities.get('São Paulo'), note: 'home', owner: bob.user._id }
    const hers = ok(
      await ask('POST', '/favourites', { json: favourite, ...bearer(tokens.get('ann')) }),
      201,
    )
    assert.notEqual(hers.body.data.owner, bob.user._id)
    const path = `/favourites/${hers.body.data._id}`
    assert.deepEqual(ok(await ask('GET', '/favourites', bearer(bob.token))).body.data, [])
    refused(await ask('GET', path, bearer(bob.token)), 404, 'Entry not found.')
    refused(
      await ask('PATCH', path, { json: { note: 'x' }, ...bearer(bob.token) }),
      404,
      'Entry not found.',
    )
    refused(await ask('DELETE', path, bearer(bob.token)), 404, 'Entry not found.')
    assert.equal(
      ok(await ask('GET', path, bearer(tokens.get('ann')))).body.data.city.name,
      'São Paulo',
    )
  },
  '4.1 DELETE answers a message, then 404': async ({ ask }, { cities }) => {
    const path = `/cities/${cities.get('Tokyo')}`
    assert.equal(ok(await ask('DELETE', path)).body.message, 'Item successfully deleted.')
    refused(await ask('GET', path), 404, 'Entry not found.')
    refused(await ask('DELETE', path), 404, 'Entry not found.')
  },
  'K6 answers in parallel carry only their own record': async ({ ask }, { cities }) => {
    const some = [...cities].filter(([name]) => name !== 'Tokyo').slice(0, 50)
    const answers = await Promise.all(some.map(([, id]) => ask('GET', `/cities/${id}`)))
    assert.deepEqual(
      answers.map(({ body }) => body.data.name),
      some.map(([name]) => name),
    )
  },
}

/** The status that a request line gets which no client library would send. */
function rawStatus(base: string, requestLine: string): Promise<number> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${requestLine}\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`)
    })
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)))
    socket.on('error', reject)
  })
}

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { readCountries } from '../../../examples/atlas/source.ts'
import { type Checks, ok, refused } from '../check.ts'

/** Requests that are odd: malformed, too large, unknown, broken off. */
export const requests: Checks = {
  "2 a guard learns the client's address, which no header of the client's changes": async ({
    ask,
  }) => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=203.0.113.7' }
    const { body } = ok(await ask('GET', '/extras/client', { headers }))
    assert.match(String(body.data), /^(?:127\.0\.0\.1|::1)$/)
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
      refusedEarly: true,
    })
    refused(answer, 413, 'Request body exceeds the limit of 1048576 bytes.')
  },
  '8 a body of unknown length over the limit is a 413': async (_, { base }) => {
    const [chunk, count] = ['x'.repeat(65_536), 20]
    const chunks = Array.from({ length: count }, () => `10000\r\n${chunk}\r\n`)
    const answer = await rawAnswer(base, [
      `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n`,
      ...chunks,
    ])
    assert.match(answer, /^HTTP\/1\.1 413 /)
    assert.match(answer, /"Request body exceeds the limit of 1048576 bytes\."/)
  },
  'bodies that trickle in keep nobody waiting': async ({ ask }, { base, trickled }) => {
    const head = `${JSON_POST}Content-Length: 99999\r\n\r\n{"name":"`
    trickled.push(...Array.from({ length: 30 }, () => rawAnswer(base, [head], 200)))
    ok(await ask('GET', '/cities?page=1&pageSize=1'))
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
    const { text } = await ask('GET', '/cities?sort=name')
    // A length may be left out, but not be that of nothing.
    const length = head.headers.get('content-length')
    assert.ok(length === null || length === String(Buffer.byteLength(text)), `${length}`)
    assert.equal((await ask('HEAD', '/cities?sort=nope')).status, 400)
  },
  'answers: a read has an entity tag, and is a 304 for a client that has it': async (
    { ask },
    { cities },
  ) => {
    for (const path of [`/cities/${cities.get('Tokyo')}`, '/cities?page=1']) {
      const etag = ok(await ask('GET', path)).headers.get('etag') ?? ''
      assert.match(etag, /^"[0-9a-f]+"$/)
      for (const method of ['GET', 'HEAD']) {
        const known = await ask(method, path, { headers: { 'If-None-Match': etag } })
        assert.deepEqual([known.status, known.text], [304, ''])
        assert.equal(known.headers.get('etag'), etag)
        assert.ok(known.headers.get('x-request-id'))
      }
    }
  },
  '4.1 unknown paths are a 404 and unknown methods a 405, in the envelope': async (
    { ask },
    { cities },
  ) => {
    const id = cities.get('Tokyo')
    for (const [method, path, allow] of [
      ['PUT', `/cities/${id}`, 'DELETE, GET, HEAD, PATCH'],
      ['DELETE', '/cities', 'GET, HEAD, POST, QUERY'],
      ['GET', '/auth/login', 'POST'],
      ['QUERY', '/auth/me', 'GET, HEAD'],
      ['POST', '/auth/users/x/roles', 'PATCH'],
    ] as const) {
      const answer = await ask(method, path, method === 'GET' ? {} : { json: {} })
      refused(answer, 405, 'Method not allowed.')
      assert.equal(answer.headers.get('allow'), allow)
      const told = ok(await ask('OPTIONS', path))
      assert.deepEqual([told.headers.get('allow'), told.text], [allow, allow])
    }
    refused(await ask('QUERY', `/cities/${id}`, { json: {} }), 404, 'Not found.')
    for (const path of ['/nope', '/auth', '/cities/x/y', '/Cities']) {
      refused(await ask('GET', path), 404, 'Not found.')
    }
  },
  'odd spellings of a path are answered alike, and never pass for another path': async (
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
  'odd methods write nothing': async ({ ask }, { base, cities }) => {
    const path = `/cities/${cities.get('Tokyo')}`
    for (const method of ['delete', 'Delete', 'FOO', 'TRACE']) {
      const status = await rawStatus(base, `${method} ${path} HTTP/1.1`)
      // 0: the connection was closed without an answer, which is Bun's way.
      assert.ok([0, 400, 404, 405, 501].includes(status), `${method}: ${status}`)
    }
    const override = { headers: { 'X-HTTP-Method-Override': 'DELETE' } }
    assert.equal((await ask('POST', `${path}?_method=DELETE`, override)).status, 405)
    ok(await ask('GET', path))
  },
  'answers: X-Request-Id is taken over when it is well formed, made otherwise': async ({ ask }) => {
    const given = await ask('GET', '/nope', { headers: { 'X-Request-Id': 'abc-1' } })
    assert.equal(given.body.requestId, 'abc-1')
    const odd = await ask('GET', '/nope', { headers: { 'X-Request-Id': 'a b' } })
    assert.match(odd.body.requestId, /^[0-9a-f-]{36}$/)
  },
  'a client that goes away leaves the server answering': async ({ ask }, { base }) => {
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
}

/** What those get whose bodies trickled in, while other checks asked. */
export const trickles: Checks = {
  'bodies that trickle in are given up': async (_, { trickled }) => {
    assert.ok(trickled.length > 0)
    for (const answer of await Promise.all(trickled)) {
      assert.match(answer, /^HTTP\/1\.1 408 /)
      assert.match(answer, /"error":"Request body took too long to arrive\."/)
      assert.match(answer, /\r\nconnection: close\r\n/i)
    }
  },
}

const JSON_POST = 'POST /cities HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

/** The status that a request line gets which no client library would send; 0 where none came. */
async function rawStatus(base: string, requestLine: string): Promise<number> {
  const { host } = new URL(base)
  const answer = await rawAnswer(base, [
    `${requestLine}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  ])
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}

/** What comes back for the given text, with a byte more every `everyMs` until the answer is there. */
function rawAnswer(base: string, parts: readonly string[], everyMs?: number): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part)
    })
    const drip = everyMs === undefined ? undefined : setInterval(() => socket.write('x'), everyMs)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
      // Those who keep the connection would wait for the rest of the body.
      if (text.endsWith('}')) socket.destroy()
    })
    // A connection may be reset once its answer has been sent.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      resolve(text)
    })
  })
}

/**
 * The guards of `fieldgate/guards`, on the runtime and the store that serve them.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { zstdDecompressSync } from 'node:zlib'
import { type Checks, ok, refused } from '../check.ts'

const origin = 'https://app.example.com'
/** How Zstandard begins (RFC 8878, 3.1.1). */
const ZSTD_MAGIC = 0xfd2fb528

/** The checks of guards. */
export const guards: Checks = {
  async 'guards: cors marks responses and failures, and responds to preflights'(client) {
    const headers = { Origin: origin }
    const read = ok(await client.ask('GET', '/guards/cors', { headers }))
    const missing = await client.ask('GET', `/guards/cors/${'0'.repeat(24)}`, { headers })
    refused(missing, 404, 'Entry not found.')
    for (const answer of [read, missing]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), origin)
      assert.equal(answer.headers.get('access-control-allow-credentials'), 'true')
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /\bETag\b/)
    }
    const asked = { ...headers, 'Access-Control-Request-Method': 'QUERY' }
    const preflight = await client.ask('OPTIONS', '/guards/cors', { headers: asked })
    assert.equal(preflight.status, 204)
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /\bQUERY\b/)
    const other = await client.ask('GET', '/guards/cors', {
      headers: { Origin: 'https://x.example' },
    })
    assert.equal(other.headers.get('access-control-allow-origin'), null)
    assert.match(other.headers.get('vary') ?? '', /\bOrigin\b/)
  },
  async 'guards: secureHeaders'(client) {
    for (const path of ['/guards/cors', '/guards/cors/1']) {
      const { headers } = await client.ask('GET', path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; frame-ancestors 'none'",
      )
    }
  },
  async 'guards: readOnly lets reads pass alone'(client) {
    ok(await client.ask('GET', '/guards/closed'))
    ok(await client.ask('QUERY', '/guards/closed', { json: {} }))
    refused(
      await client.ask('POST', '/guards/closed', { json: { name: 'a' } }),
      405,
      'Method not allowed.',
    )
    const options = await client.ask('OPTIONS', '/guards/closed')
    assert.deepEqual([options.status, options.text], [200, 'GET, HEAD, QUERY'])
  },
  async 'guards: compress'(client, { base }) {
    const name = 'word '.repeat(1000)
    const { location } = Object.fromEntries(
      ok(await client.ask('POST', '/guards/packed', { json: { name } }), 201).headers,
    )
    const path = base + String(location)
    const asked = async (coding: string, headers: Record<string, string> = {}) =>
      fetch(path, { headers: { 'Accept-Encoding': coding, ...headers } })
    for (const coding of ['gzip', 'br', 'zstd', 'identity']) {
      const response = await asked(`${coding}, compress`)
      const made = response.headers.get('content-encoding')
      // Workers have gzip alone.
      assert.ok(made === coding || (made === null && coding !== 'gzip'), `${coding}: ${made}`)
      assert.match(response.headers.get('vary') ?? '', /\bAccept-Encoding\b/)
      const bytes = Buffer.from(await response.arrayBuffer())
      // Node's fetch decodes the other two, and from 26 on this one as well.
      const isPacked = bytes.readUInt32LE(0) === ZSTD_MAGIC
      const text = String(isPacked ? zstdDecompressSync(bytes) : bytes)
      const { data } = JSON.parse(text) as { data: { name: string } }
      assert.equal(data.name, name)
      const tag = response.headers.get('etag') ?? ''
      // Before Workers, Cloudflare has codings of its own.
      if (coding === 'gzip') assert.match(tag, /\+gzip"$/)
      const same = await asked(coding, { 'If-None-Match': tag })
      assert.deepEqual([same.status, same.headers.get('etag')], [304, tag])
    }
    // Others count the records of this model.
    ok(await client.ask('DELETE', String(location)))
  },
  async 'guards: apiKey'(client) {
    refused(await client.ask('GET', '/guards/keys'), 401, 'API key required.')
    const withKey = (key: string) =>
      client.ask('GET', '/guards/keys', { headers: { 'X-API-Key': key } })
    refused(await withKey('another'), 401, 'Invalid API key.')
    ok(await withKey('a-key-for-the-tests'))
  },
  async 'guards: rateLimit counts down and refuses'(_client, { base }) {
    const headers = { 'X-Client': crypto.randomUUID() }
    const statuses: number[] = []
    // Not by the client, whose transcript is the same everywhere: two Durable Objects that serve in turn count apart.
    for (let response = new Response(); response.status !== 429; statuses.push(response.status)) {
      response = await fetch(`${base}/guards/limited`, { headers })
      assert.match(response.headers.get('ratelimit') ?? '', /^"default";r=[01];t=\d+$/)
      assert.equal(response.headers.has('retry-after'), response.status === 429)
      await response.text()
    }
    assert.ok(statuses.length >= 3 && statuses.length <= 5, String(statuses))
    assert.ok(statuses.slice(0, -1).every((status) => status === 200))
  },
  async 'guards: idempotency writes once, and repeats the response'(client, { base }) {
    const ask = (key: string, name: string) =>
      client.ask('POST', '/guards/once', { headers: { 'Idempotency-Key': key }, json: { name } })
    const first = ok(await ask('"one"', 'a'), 201)
    const again = ok(await ask('"one"', 'a'), 201)
    assert.equal(again.text, first.text)
    assert.equal(again.headers.get('location'), first.headers.get('location'))
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    refused(await ask('"one"', 'b'), 422, 'This Idempotency-Key was used for another request.')
    refused(
      await ask('"one', 'a'),
      400,
      'The Idempotency-Key must be a string of 1 to 255 characters.',
    )
    // Which of them wins differs, so they are not in the transcript.
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'two' },
      body: '{"name":"c"}',
    }
    const asked = Array.from({ length: 20 }, () => fetch(`${base}/guards/once`, init))
    for (const { status } of await Promise.all(asked)) {
      assert.ok([201, 409].includes(status), String(status))
    }
    const stored = ok(await client.ask('GET', '/guards/once'))
    assert.equal(stored.body.data.length, 2)
  },

  async 'guards: writes that nothing reads are failures, and nothing is stored'(client) {
    const post = (habit: string) =>
      client.ask('POST', '/guards/habits?name=y&list=a&list=b', {
        headers: { 'X-Habit': habit },
        json: { name: 'abc' },
      })
    const before = ok(await client.ask('GET', '/guards/habits')).body.data.length
    const writes = ['body', 'member', 'delete', 'defined', 'query', 'nested', 'user', 'headers']
    for (const habit of [...writes, 'asked', 'contained', 'listed']) {
      assert.equal((await post(habit)).status, 500, habit)
    }
    assert.equal(ok(await client.ask('GET', '/guards/habits')).body.data.length, before)
    assert.equal((await post('read')).text, '{"name":"abc"}')
    for (const habit of ['stream', 'passed', 'piped', 'sent']) {
      assert.equal((await post(habit)).text, '{"length":14}', habit)
    }
    assert.equal((await post('cloned')).text, '{"name":"y","list":["a","b"]}')
    ok(await post('define'), 201)
    ok(await post(''), 201)
  },

  async 'guards: writes to a body that is not there are failures'(client) {
    for (const method of ['GET', 'DELETE', 'POST']) {
      for (const habit of ['body', 'member', 'delete', 'assign', 'query', 'user']) {
        const headers = { 'X-Habit': habit }
        const { status } = await client.ask(method, '/guards/habits', { headers })
        assert.equal(status, 500, `${method} ${habit}`)
      }
    }
  },
}

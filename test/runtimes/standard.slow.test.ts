/** fieldgate's classes on Node in the place of the standard's. */

import { execFile } from 'node:child_process'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ServedRequest } from '../../adapters/runtimes/messages/node-request.ts'
import { Response as PlainResponse } from '../../adapters/runtimes/messages/node-response.ts'

/** A request as node:http hands it over. */
function request(url: string, ...rawHeaders: string[]): Request {
  const incoming = new IncomingMessage(new Socket())
  const read = incoming as unknown as {
    _addHeaderLine(name: string, value: string, all: object): void
  }
  Object.assign(incoming, { method: 'GET', url, rawHeaders, complete: true })
  for (let at = 0; at < rawHeaders.length; at += 2) {
    read._addHeaderLine(`${rawHeaders[at]}`, `${rawHeaders[at + 1]}`, incoming.headers)
  }
  return new ServedRequest(incoming, new ServerResponse(incoming))
}

const response = () =>
  new PlainResponse('{"a":1}', { status: 201, headers: { 'Content-Type': 'application/json' } })

describe('a class of fieldgate', () => {
  it.each([
    ['Headers', () => request('/', 'Host', 'a').headers, Headers],
    ['Request', () => request('/', 'Host', 'a'), Request],
    ['Response', response, Response],
  ] as const)('passes for %s, and has all of its members', (name, make, Standard) => {
    const made: object = make()
    const own = new Set(Reflect.ownKeys(Object.getPrototypeOf(made)))
    expect(made).toBeInstanceOf(Standard)
    expect(Object.prototype.toString.call(made)).toBe(`[object ${name}]`)
    expect(inspect(made)).toMatch(new RegExp(`^${name}`))
    // What Node leaves there by mistake, and what is its own.
    const members = Reflect.ownKeys(Standard.prototype).filter(
      (key) => key !== 'attribute' && !/^Symbol\((?!Symbol\.)/.test(String(key)),
    )
    expect(members.filter((key) => !own.has(key))).toEqual([])
  })

  it('can be copied, read and changed as the standard says', async () => {
    const made = response()
    const copy = made.clone()
    made.headers.append('X-One', '1')
    expect([await copy.json(), await made.text()]).toEqual([{ a: 1 }, '{"a":1}'])
    expect([made.bodyUsed, made.status, made.ok, made.type]).toEqual([true, 201, true, 'default'])
    expect([...made.headers]).toEqual([
      ['content-type', 'application/json'],
      ['x-one', '1'],
    ])
    expect([...new Response(null, response()).headers]).toEqual([...response().headers])
  })

  it('has the headers as they were sent', () => {
    const { headers } = request('/', 'Host', 'a', 'Accept', 'b', 'ACCEPT', 'c', 'Cookie', 'd=1')
    expect(headers.get('accept')).toBe('b, c')
    expect([headers.get('Cookie'), headers.get('x'), headers.has('x')]).toEqual([
      'd=1',
      null,
      false,
    ])
    expect([headers.get('__proto__'), headers.has('constructor')]).toEqual([null, false])
    expect(() => headers.get('a b')).toThrow(TypeError)
    headers.set('X', '1')
    expect([headers.get('x'), headers.get('accept')]).toEqual(['1', 'b, c'])
  })

  it.each(['Authorization', 'Content-Type', 'If-Match', 'ETag'])(
    'joins two values of %s',
    (name) => {
      const { headers } = request('/', 'Host', 'a', name, '1', name.toLowerCase(), '2')
      expect(headers.get(name)).toBe('1, 2')
      expect(headers.has(name)).toBe(true)
    },
  )
})

describe('the URL of a request', () => {
  it.each([
    ['/a?b=c&d=%20', 'a.example:1', 'http://a.example:1/a?b=c&d=%20'],
    ['//b/c', 'a', 'http://a//b/c'],
    ['/a/../b', 'a', 'http://a/b'],
    ['/a/%2E%2e/b', 'a', 'http://a/b'],
    ["/a'b?c='d'", 'a', "http://a/a'b?c=%27d%27"],
    ['/a\\b', 'a', 'http://a/a/b'],
    ['/?', 'a', 'http://a/?'],
    ['/#a', 'a', 'http://a/#a'],
    ['/é', '[::1]:80', 'http://[::1]/%C3%A9'],
    ['*', 'a', 'http://a/*'],
    ['b', 'a', 'http://a/'],
    ['https://b:2/c?d', 'a', 'http://b:2/c?d'],
    ['mailto:b', 'a', 'http://a/b'],
    ['/a', 'A.Example:80', 'http://a.example/a'],
    ['/a', '127.1', 'http://127.0.0.1/a'],
    ['/a', '[::01]', 'http://[::1]/a'],
    ['/a', '999.1.1.1', 'http://_invalid_/a'],
    ['/', 'a b', 'http://_invalid_/'],
    ['/', 'a/b', 'http://_invalid_/'],
    ['/', 'x@y', 'http://_invalid_/'],
    ['/./é', '999.1.1.1', 'http://_invalid_/%C3%A9'],
  ])('of %s with the Host %s', (target, host, url) => {
    expect(request(target, 'Host', host).url).toBe(url)
  })
})

it.each([
  ['a server responds', [], 0],
  ['a busy server responds a thousand times', ['--busy'], 1],
])('%s before Node has made its own classes, which then fit', async (_, more, busy) => {
  const program = fileURLToPath(new URL('standard-fixture.ts', import.meta.url))
  const flags = ['-C', 'fieldgate-source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...more])
  expect(JSON.parse(stdout)).toEqual({
    answer: ['HTTP/1.1 404 ', 'HTTP/1.1 201 ', 'HTTP/1.1 200 '],
    before: [],
    busy,
    passes: [true, true, true],
    after: ['NativeModule internal/deps/undici/undici'],
  })
})

/**
 * The same requests to an app that another framework serves, with what each response has to be.
 *
 * @module
 */

import assert from 'node:assert/strict'

/** What one request after another has found. */
interface Found {
  readonly base: string
  /** The record of the first request. */
  location: string
  tag: string
  photo: string
}

/** Sends one of them; throws if the response is another than the app's own. */
type Check = (found: Found) => Promise<void>

const JSON_TYPE = { 'Content-Type': 'application/json' }
const OSLO = { name: 'Oslo', country: 'NO', population: 709_037 }
const QUERY = { country: 'NO', population: { gte: 500_000 } }
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

/** Milliseconds for one request: what hangs is a result too. */
const PATIENCE = 20_000

function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const signal = AbortSignal.any(
    [AbortSignal.timeout(PATIENCE), init.signal].filter((one) => !!one),
  )
  return fetch(url, { redirect: 'manual', ...init, signal })
}

/** The JSON of a response with this status. */
async function jsonOf(response: Response, status: number) {
  const text = await response.text()
  assert.equal(response.status, status, `${response.status} ${text.slice(0, 60)}`)
  assert.match(response.headers.get('Content-Type') ?? 'no type', /^application\/json/)
  return JSON.parse(text)
}

const queried = async (response: Response) => {
  const { data, success } = await jsonOf(response, 200)
  assert.deepEqual([success, data.map(({ name }: typeof OSLO) => name)], [true, ['Oslo']])
}

/** A form with a picture; what follows the end of the image is padding, as some cameras write. */
function photo(bytes: number): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'Bergen', country: 'NO' }))
    form.set(name, value)
  form.set('photo', new Blob([DOT, new Uint8Array(bytes - DOT.length)]), 'dot.png')
  return form
}

async function uploaded({ base }: Found, bytes: number): Promise<string> {
  const response = await ask(`${base}/api/cities`, { method: 'POST', body: photo(bytes) })
  const { data } = await jsonOf(response, 201)
  return new URL(data.photo, base).href
}

/** By their names in the table, in this order. */
export const requests: Readonly<Record<string, Check>> = {
  create: async (found) => {
    const body = JSON.stringify(OSLO)
    const url = `${found.base}/api/cities`
    const response = await ask(url, { method: 'POST', headers: JSON_TYPE, body })
    const { data } = await jsonOf(response, 201)
    assert.deepEqual({ ...data, _id: 0 }, { _id: 0, ...OSLO })
    found.location = new URL(response.headers.get('Location') ?? '', found.base).href
    assert.equal(found.location, `${url}/${data._id}`)
  },
  read: async (found) => {
    const response = await ask(found.location)
    found.tag = response.headers.get('ETag') ?? ''
    assert.notEqual(found.tag, '', 'no ETag')
    assert.equal((await jsonOf(response, 200)).data.name, 'Oslo')
  },
  'If-None-Match': async ({ location, tag }) => {
    const response = await ask(location, { headers: { 'If-None-Match': tag } })
    assert.deepEqual([response.status, await response.text()], [304, ''])
  },
  list: async ({ base }) => queried(await ask(`${base}/api/cities?country=NO&population=709037`)),
  QUERY: async ({ base }) => {
    const body = JSON.stringify({ filter: QUERY })
    await queried(await ask(`${base}/api/cities`, { method: 'QUERY', headers: JSON_TYPE, body }))
  },
  'QUERY as POST': async ({ base }) => {
    const headers = { ...JSON_TYPE, 'X-HTTP-Method-Override': 'QUERY' }
    const body = JSON.stringify({ filter: QUERY })
    await queried(await ask(`${base}/api/cities`, { method: 'POST', headers, body }))
  },
  PATCH: async ({ location, tag }) => {
    const headers = { ...JSON_TYPE, 'If-Match': tag }
    const response = await ask(location, { method: 'PATCH', headers, body: '{"population":1}' })
    assert.equal((await jsonOf(response, 200)).data.population, 1)
  },
  'If-Match': async ({ location, tag }) => {
    const headers = { ...JSON_TYPE, 'If-Match': tag }
    const response = await ask(location, { method: 'PATCH', headers, body: '{"population":2}' })
    const { error } = await jsonOf(response, 412)
    assert.equal(error, 'The record has changed since it was read.')
  },
  HEAD: async ({ location }) => {
    const response = await ask(location, { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.match(response.headers.get('ETag') ?? 'no ETag', /"/)
  },
  OPTIONS: async ({ base }) => {
    const response = await ask(`${base}/api/cities`, { method: 'OPTIONS' })
    assert.equal(response.status, 200, `${response.status}`)
    assert.match(response.headers.get('Allow') ?? 'no Allow', /GET.*POST.*QUERY/)
  },
  CORS: async ({ base }) => {
    const headers = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'QUERY' }
    const response = await ask(`${base}/api/cities`, { method: 'OPTIONS', headers })
    assert.equal(response.status, 204, `${response.status}`)
    assert.equal(response.headers.get('Access-Control-Allow-Origin'), headers.Origin)
    assert.match(response.headers.get('Access-Control-Allow-Methods') ?? 'no methods', /QUERY/)
  },
  upload: async (found) => {
    found.photo = await uploaded(found, DOT.length)
  },
  download: async ({ photo: url }) => {
    const response = await ask(url)
    assert.equal(response.status, 200, `${response.status}`)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), DOT)
  },
  range: async ({ photo: url }) => {
    const response = await ask(url, { headers: { Range: 'bytes=4-9' } })
    assert.equal(response.status, 206, `${response.status}`)
    assert.equal(response.headers.get('Content-Range'), `bytes 4-9/${DOT.length}`)
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), DOT.subarray(4, 10))
  },
  '5 MiB': async (found) => {
    await uploaded(found, 5 * 1024 * 1024)
  },
  cookies: async ({ base }) => {
    const response = await ask(`${base}/api/checks/theme`, { headers: { Cookie: 'a=1; b=2' } })
    const set = response.headers.getSetCookie().map((one) => one.split(';', 1)[0])
    assert.deepEqual(set, ['theme=dark', 'seen=1'])
    const { cookie } = await jsonOf(response, 200)
    assert.deepEqual(cookie.split(/; ?/), ['a=1', 'b=2'])
  },
  compression: async ({ base }) => {
    const headers = { 'Accept-Encoding': 'gzip, br' }
    const { data } = await jsonOf(await ask(`${base}/api/checks/long`, { headers }), 200)
    assert.deepEqual(data, { text: 'word '.repeat(1000) })
  },
  stream: async ({ base }) => {
    const over = new AbortController()
    const response = await ask(`${base}/api/checks/clock`, { signal: over.signal })
    assert.match(response.headers.get('Content-Type') ?? '', /^text\/event-stream/)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    // The stream has no end: what arrives was sent piece by piece.
    for (const _ of 'ab') assert.match((await reader?.read())?.value ?? '', /^data: \d+/)
    over.abort()
  },
  abort: async ({ base }) => {
    const until = Date.now() + PATIENCE
    for (;;) {
      const response = await ask(`${base}/api/checks/listeners`)
      const { listeners } = (await jsonOf(response, 200)).data
      if (listeners === 0) return
      assert.ok(Date.now() < until, `${listeners} left`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  },
  'deep path': async ({ base }) => {
    const path = `near/${encodeURIComponent('Ås/Å & co')}/by/%E6%97%85/within/1%2E5%25`
    const response = await ask(`${base}/api/checks/${path}`)
    const { data } = await jsonOf(response, 200)
    assert.deepEqual(data, { name: 'Ås/Å & co', how: '旅', distance: '1.5%' })
  },
  errors: async ({ base }) => {
    const init = { method: 'POST', headers: JSON_TYPE, body: '{"name":""' }
    const broken = await jsonOf(await ask(`${base}/api/cities`, init), 400)
    assert.equal(broken.success, false)
    const wrong = await jsonOf(
      await ask(`${base}/api/cities`, { ...init, body: '{"name":""}' }),
      400,
    )
    assert.ok(wrong.fields.name, 'no fields')
    const thrown = await jsonOf(await ask(`${base}/api/checks/broken`, { method: 'POST' }), 418)
    assert.equal(thrown.error, 'This route never works.')
    assert.equal((await jsonOf(await ask(`${base}/api/nowhere`), 404)).error, 'Not found.')
  },
}

/** Sends them all; resolves to `yes`, or to what was wrong, by their names. */
export async function results(base: string): Promise<Record<string, string>> {
  const found: Found = { base, location: '', tag: '', photo: '' }
  const results: Record<string, string> = {}
  for (const [name, check] of Object.entries(requests)) {
    results[name] = await check(found).then(
      () => 'yes',
      ({ message }: Error) => message.split('\n', 1)[0] ?? '',
    )
  }
  return results
}

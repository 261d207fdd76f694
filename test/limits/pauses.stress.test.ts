/**
 * No request of up to a mebibyte holds up the others for more than 50 ms.
 *
 * Measured is the processor time that the server's thread takes between two turns of a timer of 1 ms, so that other work
 * on the machine is no pause of ours; a slow machine may take so many times as long as it takes for work that is known.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { password } from '../auth/accounts.ts'
import { runs } from '../runs.ts'
import { type PausedServer, pausedServer, shapes } from './pauses.ts'

const MOST_MS = 50
/** Each costs time only where the one before was too long: what holds up the others does so in all of them. */
const TRIES = 12
const json = { 'content-type': 'application/json' }

let server: PausedServer
let user: { token: string; id: string }
let record = ''

beforeAll(async () => {
  server = await pausedServer()
  // What has not been compiled yet takes many times as long.
  for (let at = 0; at < 200; at += 1) {
    await ask('POST', '/plain', '{"title":"a","numbers":[1,2],"rows":[{"a":1}],"maps":[{"a":1}]}')
    await ask('GET', '/plain?page=1&pageSize=3', undefined)
  }
  const { data } = (await ask('POST', '/plain', '{"title":"a"}')).body as { data: { _id: string } }
  record = data._id
  user = await account(`{"email":"ann@example.com","password":"${password}"}`)
})

afterAll(() => server.close())

interface Asked {
  readonly status: number
  readonly body: unknown
}

async function ask(
  method: string,
  path: string,
  body: BodyInit | undefined,
  headers: Record<string, string> = typeof body === 'string' ? json : {},
): Promise<Asked> {
  const init = { method, headers, ...(body !== undefined && { body }) }
  const response = await fetch(`${server.url}${path}`, init)
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

async function account(body: string): Promise<{ token: string; id: string }> {
  const answer = await ask('POST', '/auth/register', body)
  const { token, user } = (answer.body as { data: { token: string; user: { _id: string } } }).data
  return { token, id: user._id }
}

/** Expects an answer other than a 500 without a long pause, in one of a few tries: a busy machine makes any of them longer. */
async function expectNoPause(work: () => Promise<Asked>, name = ''): Promise<void> {
  const pauses: number[] = []
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { result, pause } = await server.during(work)
    expect(result.status).toBeLessThan(500)
    pauses.push(pause > MOST_MS ? pause / (await server.slowness()) : pause)
    if (Math.min(...pauses) <= MOST_MS) break
  }
  expect(Math.min(...pauses), name).toBeLessThanOrEqual(MOST_MS)
}

let people = 0
const person = () => {
  people += 1
  return `"email":"p${people}@example.com","password":"${password}"`
}

/** Of the routes each third one meets a shape, and of the shapes a route, unless `FIELDGATE_RUNS` asks for more. */
const isTried = (shape: number, route: number) => (shape + route) % 3 < runs(1)
const numbered = Object.entries(shapes).map(
  ([name, shape], at) => [name, { ...shape, at }] as const,
)

describe.each(numbered)('1 MiB of %s', (_, { field, json: value, at }) => {
  const body = `{"${field}":${value}}`
  const routes: Readonly<Record<string, () => Promise<Asked>>> = {
    POST: () => ask('POST', '/plain', body),
    PATCH: () => ask('PATCH', `/plain/${record}`, body),
    'POST of a searched field': () => ask('POST', '/searched', body),
    'a QUERY filter': () => ask('QUERY', '/plain', `{"filter":${body},"limit":1}`),
    'a cached QUERY with cursors': () => ask('QUERY', '/cached', `{"filter":${body}}`),
    'a QUERY value': () => ask('QUERY', '/cached', `{"filter":{"title":${value}}}`),
    'a QUERY list': () => ask('QUERY', '/plain', `{"filter":{"title":{"in":${value}}}}`),
    register: () => ask('POST', '/auth/register', `{${person()},"${field}":${value}}`),
    login: () => ask('POST', '/auth/login', `{"identifier":${value},"password":${value}}`),
    'a forgotten password': () => ask('POST', '/auth/password/forgot', `{"identifier":${value}}`),
    'a reset password': () =>
      ask('POST', '/auth/password/reset', `{"identifier":"a","code":${value},"newPassword":"a"}`),
    refresh: () => ask('POST', '/auth/refresh', `{"refreshToken":${value}}`),
    logout: () => ask('POST', '/auth/logout', `{"refreshToken":${value}}`),
    social: () => ask('POST', '/auth/social/google', `{"idToken":${value}}`),
    'a change of password': () =>
      ask('POST', '/auth/password/change', `{"currentPassword":${value},"newPassword":${value}}`, {
        ...json,
        authorization: `Bearer ${user.token}`,
      }),
    'a change of the own account': () =>
      ask('PATCH', `/auth/users/${user.id}`, body, {
        ...json,
        authorization: `Bearer ${user.token}`,
      }),
  }
  it('holds up no route', async () => {
    for (const [route, [name, work]] of Object.entries(routes).entries()) {
      if (isTried(at, route)) await expectNoPause(work, name)
    }
    // Each shape meets a record of its own.
    const { body: made } = await ask('POST', '/plain', '{"title":"a"}')
    record = (made as { data: { _id: string } }).data._id
    user = await account(`{${person()}}`)
  })
})

describe('1 MiB of a form', () => {
  it('of 1,000 parts holds up nobody', async () => {
    const form = new FormData()
    for (let at = 0; at < 990; at += 1) form.append('texts', 'é'.repeat(500))
    await expectNoPause(() => ask('POST', '/plain', form, {}))
    const deep = new FormData()
    for (let at = 0; at < 990; at += 1) deep.append(`any${'[a]'.repeat(300)}`, 'a')
    await expectNoPause(() => ask('POST', '/plain', deep, {}))
    const long = new FormData()
    long.append('title', 'é'.repeat(500_000))
    await expectNoPause(() => ask('POST', '/plain', long, {}))
  })

  it('in a URL’s spelling is refused', async () => {
    const body = 'title=a&'.repeat(130_000)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    await expectNoPause(() => ask('POST', '/plain', body, headers))
  })
})

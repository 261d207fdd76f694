/**
 * Routes that are off or guarded, and scopes of reads and writes, on the runtime and the store that serve them.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type Checks, ok, refused } from '../check.ts'

const asAnn = { 'X-User': 'ann' }
const asBob = { 'X-User': 'bob' }

/** The checks of limits. */
export const limits: Checks = {
  async 'access: a route that is off is a 405, and OPTIONS does not tell of it'(client) {
    const path = `/limited/${'0'.repeat(24)}`
    const answer = await client.ask('DELETE', path)
    refused(answer, 405, 'Method not allowed.')
    assert.equal(answer.headers.get('allow'), 'GET, HEAD, PATCH')
    assert.equal((await client.ask('OPTIONS', path)).text, 'GET, HEAD, PATCH')
    assert.equal((await client.ask('OPTIONS', '/limited')).text, 'GET, HEAD, POST, QUERY')
  },
  async 'access: the guard of a route is asked for that route alone'(client) {
    const json = { public: true, text: 'a' }
    refused(await client.ask('POST', '/limited', { json }), 401, 'Authentication required.')
    ok(await client.ask('GET', '/limited'))
    ok(await client.ask('QUERY', '/limited', { json: {} }))
  },
  async 'scope: reads by or, writes by owner'(client) {
    const made: string[] = []
    for (const isPublic of [true, false]) {
      const json = { owner: 'bob', public: isPublic, text: `${isPublic}` }
      const answer = await client.ask('POST', '/limited', { json, headers: asAnn })
      assert.equal(answer.status, 201)
      assert.equal(answer.body.data.owner, 'ann')
      made.push(`/limited/${answer.body.data._id}`)
    }
    const texts = async (headers: Readonly<Record<string, string>>) => {
      const { data } = (await client.ask('GET', '/limited', { headers })).body
      return data.map(({ text }: { text: string }) => text).sort()
    }
    assert.deepEqual(await texts(asAnn), ['false', 'true'])
    assert.deepEqual(await texts(asBob), ['true'])
    const json = { text: 'b' }
    for (const [path = '', status] of [
      [made[0], 200],
      [made[1], 404],
    ] as const) {
      assert.equal((await client.ask('GET', path, { headers: asBob })).status, status)
      refused(await client.ask('PATCH', path, { json, headers: asBob }), 404, 'Entry not found.')
    }
    const [, hidden = ''] = made
    ok(await client.ask('PATCH', hidden, { json: { public: true }, headers: asAnn }))
    ok(await client.ask('GET', hidden, { headers: asBob }))
  },
}

import assert from 'node:assert/strict'
import { type LiveEvent, Reading } from '../../records/live/stream.ts'
import { type Checks, ok, refused } from '../check.ts'

const account = { email: 'follower@example.com', password: 'correct horse battery' }
const bearer = (token: string | undefined) => ({ headers: { Authorization: `Bearer ${token}` } })

/** Follows the favourites of somebody; the transcript has nothing of it, as events may come at any time. */
async function follow(base: string, token: string | undefined, last?: string): Promise<Reading> {
  const headers = { ...bearer(token).headers, Accept: 'text/event-stream' }
  const response = await fetch(`${base}/favourites`, {
    headers: last === undefined ? headers : { ...headers, 'Last-Event-ID': last },
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return new Reading(response)
}

/** The next event, which must be of this kind; its data as it came. */
async function next(reading: Reading, event: string): Promise<LiveEvent & { readonly data: Data }> {
  const found = await reading.next()
  assert.equal(found?.event, event)
  return found as LiveEvent & { readonly data: Data }
}

interface Data {
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the suite is there to look at
  readonly data: any
}

/** What follows from the log of changes: live lists, histories, restoring. */
export const changes: Checks = {
  'a list is followed as it changes, and goes on after a break': async (
    { ask },
    { base, tokens, cities },
  ) => {
    const { token } = ok(await ask('POST', '/auth/register', { json: account }), 201).body.data
    tokens.set('follower', token)
    const [city] = [...cities.values()]
    const json = { city, note: 'one' }
    const made = ok(await ask('POST', '/favourites', { json, ...bearer(token) }), 201)
    const { _id } = made.body.data
    const path = `/favourites/${_id}`
    const reading = await follow(base, token)
    const { data } = (await next(reading, 'records')).data
    assert.deepEqual(data, ok(await ask('GET', '/favourites', bearer(token))).body.data)
    const changed = ok(await ask('PATCH', path, { json: { note: 'two' }, ...bearer(token) }))
    let set = await next(reading, 'set')
    // What the list has already may come once more, where other transactions are under way.
    while (set.data.data.note === 'one') set = await next(reading, 'set')
    assert.deepEqual(set.data, { data: { ...data[0], ...changed.body.data, city: data[0].city } })
    assert.ok(set.id?.startsWith(`${changed.headers.get('change-id')}`))
    await reading.cancel()
    ok(await ask('DELETE', path, bearer(token)))
    const after = await follow(base, token, set.id)
    assert.deepEqual((await next(after, 'unset')).data, { data: { _id } })
    await after.cancel()
  },
  'a list that is not live, and a stranger, are refused': async ({ ask }) => {
    const headers = { Accept: 'text/event-stream' }
    ok(await ask('GET', '/countries', { headers }), 406)
    refused(await ask('GET', '/favourites', { headers }), 401, 'Authentication required.')
  },
  'a record has a history, and what was changed or removed comes back': async (
    { ask },
    { tokens, cities },
  ) => {
    const own = bearer(tokens.get('follower'))
    const json = { city: [...cities.values()][0], note: 'one' }
    const { _id } = ok(await ask('POST', '/favourites', { json, ...own }), 201).body.data
    const path = `/favourites/${_id}`
    ok(await ask('PATCH', path, { json: { note: 'two' }, ...own }))
    const history = ok(await ask('GET', `${path}/history`, own)).body.data
    const kinds = history.map(({ kind }: { kind: string }) => kind)
    assert.deepEqual(kinds, ['updated', 'created'])
    assert.deepEqual(history[0].changes.note, { from: 'one', to: 'two' })
    const restore = (changeId: string) =>
      ask('POST', `${path}/restore`, { json: { changeId }, ...own })
    assert.equal(ok(await restore(history[1].id)).body.data.note, 'one')
    ok(await ask('DELETE', path, own))
    refused(await ask('GET', path, own), 404, 'Entry not found.')
    assert.equal(ok(await restore(history[0].id), 201).body.data.note, 'two')
    assert.equal(ok(await ask('GET', path, own)).body.data._id, _id)
    const wrong = "'changeId' must be the id of a change of this record."
    refused(await restore('nothing'), 400, wrong)
    refused(await ask('GET', `${path}/history`), 401, 'Authentication required.')
  },
}

import assert from 'node:assert/strict'
import { type Checks, ok, refused } from '../check.ts'

const bearer = (token: string | undefined) => ({ headers: { Authorization: `Bearer ${token}` } })

const ann = { email: 'Ann@Example.com', password: 'correct horse', name: 'Ann', role: 'admin' }

/** A sign-up, which is unique, and signs in. */
const signUp: Checks = {
  '4.5 sign-up and me': async ({ ask }, world) => {
    const created = ok(await ask('POST', '/auth/register', { json: ann }), 201).body.data
    assert.deepEqual([created.user.email, created.user.role], ['ann@example.com', 'user'])
    assert.equal(created.expiresIn, 900)
    world.tokens.set('ann', created.token)
    world.tokens.set('ann first', created.token)
    world.tokens.set('ann refresh', created.refreshToken)
    const me = ok(await ask('GET', '/auth/me', bearer(created.token)))
    assert.equal(me.body.data.name, 'Ann')
    assert.ok(!me.text.includes('scrypt'))
    const again = await ask('POST', '/auth/register', { json: ann })
    refused(again, 409, 'An account with those details already exists.')
  },
}

const signIn: Checks = {
  '4.5 sign-in; refusals tell nothing': async ({ ask }, world) => {
    const wrong = await ask('POST', '/auth/login', {
      json: { identifier: ann.email, password: 'wrong horse' },
    })
    const unknown = await ask('POST', '/auth/login', {
      json: { identifier: 'b@c.de', password: 'wrong horse' },
    })
    refused(wrong, 401, 'Invalid credentials.')
    refused(unknown, 401, 'Invalid credentials.')
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer')
    const operator = { identifier: ann.email, password: { $ne: null } }
    refused(
      await ask('POST', '/auth/login', { json: operator }),
      400,
      'Invalid credentials format.',
    )
    const again = await ask('POST', '/auth/login', {
      json: { identifier: ann.email, password: ann.password },
    })
    // The first session is signed out below, and its access token ends with it.
    world.tokens.set('ann', ok(again).body.data.token)
  },
}

const refresh: Checks = {
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
    const me = await ask('GET', '/auth/me', bearer(tokens.get('ann first')))
    refused(me, 401, 'Session ended. Sign in again.')
    const ended = await ask('POST', '/auth/token/refresh', {
      json: { refreshToken: first.refreshToken },
    })
    refused(ended, 401, 'Invalid or expired refresh token.')
  },
}

const others: Checks = {
  'next: sessions are listed, and ended one by one': async ({ ask }, { tokens }) => {
    const json = { identifier: 'ann@example.com', password: 'correct horse' }
    const other = ok(await ask('POST', '/auth/login', { json })).body.data
    const listed = ok(await ask('GET', '/auth/sessions', bearer(tokens.get('ann')))).body.data
    const ids = listed.map(({ current, ...session }: { current: boolean }) => {
      const { id, ...rest } = session as { id: string }
      assert.deepEqual(Object.keys(rest), ['createdAt', 'lastUsedAt', 'expiresAt'])
      return current ? 'current' : id
    })
    assert.deepEqual(ids.slice(1), ['current'])
    const path = `/auth/sessions/${ids[0]}`
    ok(await ask('DELETE', path, bearer(tokens.get('ann'))))
    refused(await ask('DELETE', path, bearer(tokens.get('ann'))), 404, 'Entry not found.')
    const me = await ask('GET', '/auth/me', bearer(other.token))
    refused(me, 401, 'Session ended. Sign in again.')
    const all = await ask(
      'DELETE',
      `/auth/users/${other.user._id}/sessions`,
      bearer(tokens.get('ann')),
    )
    refused(all, 403, 'You do not have access to this resource.')
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
}

/** What a store's driver does for accounts on a runtime: something unique, and a token that is replaced, then ended. */
export const sessions: Checks = { ...signUp, ...refresh }

/** Authentication, and what depends on who asks. */
export const accounts: Checks = { ...signUp, ...signIn, ...refresh, ...others }

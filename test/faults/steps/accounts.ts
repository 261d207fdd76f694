/**
 * The routes of people who are signed in, and resets, of which each request's calls are failed.
 *
 * @module
 */

import { password } from '../../auth/accounts.ts'
import { Authenticator } from '../../auth/methods/authenticator.ts'
import { ANN, NEW, scenario, wrong } from './people.ts'
import type { Scenario } from './run.ts'

export const accountScenarios: readonly Scenario[] = [
  scenario('forgot', async (p) => {
    await p.register()
    return {
      send: () => p.post('/password/forgot', { identifier: ANN }),
      check: async () => {
        await p.post('/password/forgot', { identifier: ANN })
        const code = p.code('passwordReset')
        return wrong([
          'a code resets',
          (await p.post('/password/reset', { identifier: ANN, code, newPassword: NEW })).status ===
            200,
        ])
      },
    }
  }),
  scenario('reset', async (p) => {
    const { token } = await p.register()
    await p.post('/password/forgot', { identifier: ANN })
    const body = { identifier: ANN, code: p.code('passwordReset'), newPassword: NEW }
    return {
      send: () => p.post('/password/reset', body),
      done: [400],
      check: async () =>
        wrong(
          ['the new password opens it', p.opens(ANN, NEW)],
          ['the old one ended', p.opens(ANN).then((is) => !is)],
          ['the session ended', (await p.things(token)) === 401],
          ['the code is used up', (await p.post('/password/reset', body)).status === 400],
        ),
    }
  }),
  scenario('change of the password', async (p) => {
    const { token } = await p.register()
    const body = { currentPassword: password, newPassword: NEW }
    return {
      send: () => p.post('/password/change', body, token),
      done: [401],
      check: async () =>
        wrong(
          ['the new password opens it', p.opens(ANN, NEW)],
          ['the old one ended', p.opens(ANN).then((is) => !is)],
          ['the session ended', (await p.things(token)) === 401],
        ),
    }
  }),
  scenario('code for an address', async (p) => {
    const { token } = await p.register()
    return {
      send: () => p.post('/email/code', {}, token),
      check: async () => {
        await p.post('/email/code', {}, token)
        const otp = p.code('emailVerification')
        return wrong([
          'a code proves it',
          (await p.post('/email/verify', { otp }, token)).status === 200,
        ])
      },
    }
  }),
  scenario('verify an address', async (p) => {
    const { token } = await p.register()
    await p.post('/email/code', {}, token)
    const body = { otp: p.code('emailVerification') }
    return { send: () => p.post('/email/verify', body, token), done: [400] }
  }),
  scenario('verify a new address that another claims', async (p) => {
    const { token, user } = await p.register()
    await p.prove(ANN, token)
    await p.register('next@example.com')
    await p.call(
      'PATCH',
      `/users/${user._id}`,
      { email: 'next@example.com', currentPassword: password },
      token,
    )
    await p.post('/email/code', { identifier: 'next@example.com' }, token)
    const body = { otp: p.code('emailVerification', 'next@') }
    return {
      send: () => p.post('/email/verify', body, token),
      done: [400],
      check: () => wrong(['the new address opens it', p.opens('next@example.com')]),
    }
  }),
  scenario('change of the address', async (p) => {
    const { token, user } = await p.register()
    await p.prove(ANN, token)
    const body = { email: 'next@example.com', currentPassword: password, name: 'Ann' }
    return { send: () => p.call('PATCH', `/users/${user._id}`, body, token) }
  }),
  scenario('change of the phone', async (p) => {
    const { token, user } = await p.register(ANN, { phone: '+4911111111' })
    await p.prove(ANN, token)
    const body = { phone: '+4922222222', currentPassword: password }
    return { send: () => p.call('PATCH', `/users/${user._id}`, body, token) }
  }),
  scenario('change of the name', async (p) => {
    const { token, user } = await p.register()
    return { send: () => p.call('PATCH', `/users/${user._id}`, { name: 'Anna' }, token) }
  }),
  scenario('refresh', async (p) => {
    const { refreshToken } = await p.register()
    return {
      send: () => p.post('/token/refresh', { refreshToken }),
    }
  }),
  scenario('refresh by a used token', async (p, place) => {
    const { refreshToken, token } = await p.register()
    const next = await p.post('/token/refresh', { refreshToken })
    place.later(60)
    return {
      send: () => p.post('/token/refresh', { refreshToken }),
      check: async () =>
        wrong(
          ['all ended', (await p.things(token)) === 401],
          [
            'the other ended',
            (await p.post('/token/refresh', { refreshToken: next.body.data.refreshToken }))
              .status === 401,
          ],
        ),
    }
  }),
  scenario('logout', async (p) => {
    const { refreshToken, token } = await p.register()
    return {
      send: () => p.post('/logout', { refreshToken }),
      check: async () => wrong(['it ended', (await p.things(token)) === 401]),
    }
  }),
  scenario('logout everywhere', async (p) => {
    const { token } = await p.register()
    await p.post('/login', { identifier: ANN, password })
    return {
      send: () => p.post('/logout/all', {}, token),
      done: [401],
      check: async () => wrong(['it ended', (await p.things(token)) === 401]),
    }
  }),
  scenario('end of a session', async (p) => {
    await p.register()
    const { token } = (await p.post('/login', { identifier: ANN, password })).body.data
    const other = (await p.call('GET', '/sessions', undefined, token)).body.data.find(
      (one: { current: boolean }) => !one.current,
    )
    return { send: () => p.call('DELETE', `/sessions/${other.id}`, undefined, token), done: [404] }
  }),
  scenario('end of a user’s sessions', async (p) => {
    const admin = await p.admin()
    const { token, user } = await p.register()
    return {
      send: () => p.call('DELETE', `/users/${user._id}/sessions`, undefined, admin.token),
      check: async () => wrong(['it ended', (await p.things(token)) === 401]),
    }
  }),
  scenario('an admin more', async (p) => {
    const admin = await p.admin()
    const { user } = await p.register()
    return {
      send: () => p.call('PATCH', `/users/${user._id}/roles`, { role: 'admin' }, admin.token),
    }
  }),
  scenario('an admin less', async (p) => {
    const admin = await p.admin()
    const { user } = await p.admin(ANN)
    return {
      send: () => p.call('PATCH', `/users/${user._id}/roles`, { role: 'user' }, admin.token),
    }
  }),
  scenario('deletion of the own account', async (p) => {
    const { token, user } = await p.register()
    await p.prove(ANN, token)
    const { key } = await p.key(token)
    await p.post('/login/oidc', { code: await p.brought('s1', ANN) })
    await p.passkey(token)
    const body = { currentPassword: password }
    return {
      lax: true,
      send: () => p.call('DELETE', `/users/${user._id}`, body, token),
      done: [401],
      check: async () =>
        wrong(
          ['the key ended', (await p.things(key)) === 401],
          ['the password ended', p.opens(ANN).then((is) => !is)],
          [
            'the provider makes a new account',
            (await p.post('/login/oidc', { code: await p.brought('s1', ANN) })).status === 200,
          ],
        ),
    }
  }),
  scenario('deletion by an admin', async (p, place) => {
    const admin = await p.admin()
    const { token, user } = await p.register()
    await p.enrol(token)
    return {
      lax: true,
      // Sent again, it removes what the first one has left.
      async check() {
        await p.call('DELETE', `/users/${user._id}`, {}, admin.token)
        const left = (await place.view()).filter((line) => line.startsWith('usertotps'))
        return wrong(['nothing is left', left.length === 0])
      },
      send: () => p.call('DELETE', `/users/${user._id}`, {}, admin.token),
      done: [404],
    }
  }),
  scenario('deletion of an admin', async (p, _place) => {
    const admin = await p.admin()
    const { user } = await p.admin(ANN)
    return {
      lax: true,
      send: () => p.call('DELETE', `/users/${user._id}`, {}, admin.token),
      done: [404],
    }
  }),
  scenario('passkey', async (p) => {
    const { token } = await p.register()
    const device = new Authenticator()
    const begun = (await p.post('/passkeys/options', {}, token)).body.data
    const credential = await device.create(begun.publicKey)
    return {
      oneUse: true,
      send: () => p.post('/passkeys', { ticket: begun.ticket, credential }, token),
      done: [400],
      // What a use of the ticket was for that came to nothing, another one does.
      async check() {
        const { data } = (await p.call('GET', '/passkeys', undefined, token)).body
        const own = data.length > 0 ? device : (await p.passkey(token)).device
        return wrong(['it opens', p.opensBy(own)])
      },
    }
  }),
  scenario('new name of a passkey', async (p) => {
    const { token } = await p.register()
    const { id } = await p.passkey(token)
    return { send: () => p.call('PATCH', `/passkeys/${id}`, { name: 'Phone' }, token) }
  }),
  scenario('removal of a passkey', async (p) => {
    const { token } = await p.register()
    const { device, id } = await p.passkey(token)
    const recent = await p.byPasskey(device)
    return { send: () => p.call('DELETE', `/passkeys/${id}`, undefined, recent), done: [404] }
  }),
  scenario('authenticator app', async (p, place) => {
    const { token } = await p.register()
    const begun = (await p.post('/totp', {}, token)).body.data
    const body = { ticket: begun.ticket, code: await p.totp(begun.secret) }
    return {
      send: () => p.post('/totp/confirm', body, token),
      done: [403, 409],
      check: async () => {
        place.later(31)
        return wrong([
          'it opens',
          (await p.post('/login', { ticket: await p.ticket(), totp: await p.totp(begun.secret) }))
            .status === 200,
        ])
      },
    }
  }),
  scenario('removal of an authenticator app', async (p) => {
    const { token } = await p.register()
    const { secret: key } = await p.enrol(token)
    const strong = await p.strong(key)
    return {
      send: () => p.call('DELETE', '/totp', undefined, strong),
      done: [404],
      check: () => wrong(['the password opens it', p.opens(ANN)]),
    }
  }),
  scenario('new recovery codes', async (p) => {
    const { token } = await p.register()
    const { secret: key } = await p.enrol(token)
    const strong = await p.strong(key)
    return { send: () => p.post('/recovery-codes', {}, strong) }
  }),
  scenario('key', async (p) => {
    const { token } = await p.register()
    const allow = [{ mount: '/things', actions: ['list'] }]
    return { twice: true, send: () => p.post('/keys', { name: 'CI', allow }, token) }
  }),
  scenario('end of a key', async (p) => {
    const { token } = await p.register()
    const { id, key } = await p.key(token)
    return {
      send: () => p.call('DELETE', `/keys/${id}`, undefined, token),
      done: [404],
      check: async () => wrong(['it ended', (await p.things(key)) === 401]),
    }
  }),
  scenario('end of a user’s keys', async (p) => {
    const admin = await p.admin()
    const { token, user } = await p.register()
    const { key } = await p.key(token)
    await p.key(token)
    return {
      send: () => p.call('DELETE', `/users/${user._id}/keys`, undefined, admin.token),
      check: async () => wrong(['it ended', (await p.things(key)) === 401]),
    }
  }),
  scenario('use of a key', async (p, place) => {
    const { token } = await p.register()
    const { key } = await p.key(token)
    return { lax: true, send: () => place.ask('GET', '/things', undefined, { token: key }) }
  }),
  ...['/me', '/users', '/sessions', '/passkeys', '/keys'].map((path) =>
    scenario(`GET ${path}`, async (p) => {
      const { token } = await p.admin()
      return { send: () => p.call('GET', path, undefined, token) }
    }),
  ),
]

/**
 * Sign-ups and sign-ins, of which each request's calls are failed.
 *
 * @module
 */

import { password } from '../../auth/accounts.ts'
import { Authenticator } from '../../auth/methods/authenticator.ts'
import { ANN, BOB, type People, scenario, wrong } from './people.ts'
import type { Scenario } from './run.ts'

/** That what the provider says next, of the same person, opens an account. */
const opensNext = async (p: People, address?: string): Promise<readonly [string, boolean]> => {
  const { status } = await p.post('/login/oidc', { code: await p.brought('s1', address) })
  return ['the next one opens', status === 200]
}

export const signInScenarios: readonly Scenario[] = [
  scenario('register', async (p) => ({
    send: () => p.post('/register', { email: ANN, password, name: 'Ann' }),
    done: [409],
    check: () => wrong(['the password opens it', p.opens(ANN)]),
  })),
  scenario('register over a claim', async (p) => {
    const { token } = await p.register(BOB)
    await p.prove(BOB, token)
    await p.call(
      'PATCH',
      `/users/${(await p.call('GET', '/me', undefined, token)).body.data._id}`,
      { phone: '+4912345678', currentPassword: password },
      token,
    )
    return {
      send: () => p.post('/register', { phone: '+4912345678', password, name: 'Ann' }),
      done: [409],
      check: () =>
        wrong(['the password opens it', p.opens('+4912345678')], ['bob goes on', p.opens(BOB)]),
    }
  }),
  scenario('login', async (p) => {
    await p.register()
    return { twice: true, send: () => p.post('/login', { identifier: ANN, password }) }
  }),
  scenario('login with a wrong password', async (p) => {
    await p.register()
    return {
      twice: true,
      send: () => p.post('/login', { identifier: ANN, password: 'wrong and wrong' }),
      check: () => wrong(['the right one opens it', p.opens(ANN)]),
    }
  }),
  scenario('login of nobody', async (p) => {
    await p.register()
    return { send: () => p.post('/login', { identifier: 'no@example.com', password }) }
  }),
  scenario('login that asks for a second step', async (p) => {
    const { token } = await p.register()
    await p.enrol(token)
    return { send: () => p.post('/login', { identifier: ANN, password }) }
  }),
  scenario('second step by totp', async (p, place) => {
    const { token } = await p.register()
    const { secret: key } = await p.enrol(token)
    place.later(31)
    const body = { ticket: await p.ticket(), totp: await p.totp(key) }
    return {
      oneUse: true,
      send: () => p.post('/login', body),
      done: [401],
      check: async () => {
        place.later(31)
        return wrong(
          ['it is used up', (await p.post('/login', body)).status === 401],
          [
            'the next one opens',
            (await p.post('/login', { ticket: await p.ticket(), totp: await p.totp(key) }))
              .status === 200,
          ],
        )
      },
    }
  }),
  scenario('second step by a recovery code', async (p) => {
    const { token } = await p.register()
    const { codes } = await p.enrol(token)
    const [recoveryCode, second] = codes
    const body = { ticket: await p.ticket(), recoveryCode }
    return {
      oneUse: true,
      send: () => p.post('/login', body),
      done: [401],
      check: async () =>
        wrong(
          [
            'the next one opens',
            (await p.post('/login', { ticket: await p.ticket(), recoveryCode: second })).status ===
              200,
          ],
          [
            'it is used up',
            (await p.post('/login', { ticket: await p.ticket(), recoveryCode })).status === 401,
          ],
        ),
    }
  }),
  scenario('second step by a passkey', async (p) => {
    const { token } = await p.register()
    const { device } = await p.passkey(token, new Authenticator('https://example.com', 5))
    await p.enrol(await p.byPasskey(device))
    const ticket = await p.ticket()
    const { publicKey } = (await p.post('/login/passkey/options', { ticket })).body.data
    const body = { ticket, passkey: await device.get(publicKey) }
    return {
      oneUse: true,
      send: () => p.post('/login', body),
      done: [401],
      check: async () => wrong(['the next one opens', p.opensBy(device)]),
    }
  }),
  scenario('confirm by totp', async (p, place) => {
    const { token } = await p.register()
    const { secret: key } = await p.enrol(token)
    place.later(700)
    const { ticket } = (await p.post('/login/confirm', { password }, token)).body
    const body = { ticket, totp: await p.totp(key) }
    return {
      oneUse: true,
      send: () => p.post('/login/confirm', body, token),
      done: [401],
    }
  }),
  scenario('confirm by password', async (p, place) => {
    const { token } = await p.register()
    place.later(700)
    return { send: () => p.post('/login/confirm', { password }, token) }
  }),
  scenario('social sign-in of a stranger', async (p) => {
    const profile = { id: 'p1', email: ANN, emailVerified: true, name: 'Ann' }
    return { twice: true, send: () => p.post('/social/one', { profile }) }
  }),
  scenario('social sign-in without an address', async (p) => {
    return { twice: true, send: () => p.post('/social/one', { profile: { id: 'p1' } }) }
  }),
  scenario('social sign-in that takes an account over', async (p) => {
    const bad = await p.register()
    const { key } = await p.key(bad.token)
    const profile = { id: 'p1', email: ANN, emailVerified: true }
    return {
      twice: true,
      send: () => p.post('/social/one', { profile }),
      check: async () =>
        wrong(
          ['the password ended', p.opens(ANN).then((is) => !is)],
          ['the session ended', (await p.things(bad.token)) === 401],
          ['the key ended', (await p.things(key)) === 401],
        ),
    }
  }),
  scenario('social sign-in again', async (p) => {
    const profile = { id: 'p1', email: ANN, emailVerified: true }
    await p.post('/social/one', { profile })
    return { twice: true, send: () => p.post('/social/one', { profile }) }
  }),
  scenario('login by passkey', async (p) => {
    const { token } = await p.register()
    const { device } = await p.passkey(token, new Authenticator('https://example.com', 5))
    const body = await p.assertion(device)
    return {
      oneUse: true,
      send: () => p.post('/login/passkey', body),
      done: [401],
      check: async () =>
        wrong(
          ['it is used up', (await p.post('/login/passkey', body)).status === 401],
          ['the next one opens', p.opensBy(device)],
        ),
    }
  }),
  scenario('code that signs in', async (p) => {
    await p.register()
    return {
      lax: true,
      send: () => p.post('/login/code', { identifier: ANN }),
      check: async () => {
        await p.post('/login/code', { identifier: ANN })
        return wrong([
          'it opens',
          (await p.post('/login', { identifier: ANN, otp: p.code('signInCode') })).status === 200,
        ])
      },
    }
  }),
  scenario('login by a code that takes an account over', async (p) => {
    const bad = await p.register()
    const { key } = await p.key(bad.token)
    await p.post('/login/code', { identifier: ANN })
    const body = { identifier: ANN, otp: p.code('signInCode') }
    return {
      oneUse: true,
      send: () => p.post('/login', body),
      done: [401],
      check: async () => {
        const used = await p.post('/login', body)
        await p.post('/login/code', { identifier: ANN })
        const again = await p.post('/login', { identifier: ANN, otp: p.code('signInCode') })
        return wrong(
          ['it is used up', used.status === 401],
          ['the next one opens', again.status === 200],
          ['the password ended', p.opens(ANN).then((is) => !is)],
          ['the session ended', (await p.things(bad.token)) === 401],
          ['the key ended', (await p.things(key)) === 401],
        )
      },
    }
  }),
  scenario('login by a code that makes an account', async (p) => {
    await p.post('/login/code', { identifier: ANN })
    const body = { identifier: ANN, otp: p.code('signInCode'), name: 'Ann' }
    return {
      oneUse: true,
      send: () => p.post('/login', body),
      done: [401],
      check: async () => {
        await p.post('/login/code', { identifier: ANN })
        const again = await p.post('/login', { identifier: ANN, otp: p.code('signInCode') })
        return wrong(['the next one opens', again.status === 200])
      },
    }
  }),
  scenario('oidc of a stranger', async (p) => {
    const code = await p.brought('s1', ANN)
    return {
      oneUse: true,
      send: () => p.post('/login/oidc', { code }),
      done: [401],
      check: async () =>
        wrong(await opensNext(p, ANN), [
          'it is used up',
          (await p.post('/login/oidc', { code })).status === 401,
        ]),
    }
  }),
  scenario('oidc of a stranger without an address', async (p) => {
    const code = await p.brought('s1')
    return {
      oneUse: true,
      send: () => p.post('/login/oidc', { code }),
      done: [401],
      check: async () => wrong(await opensNext(p)),
    }
  }),
  scenario('oidc that takes an account over', async (p) => {
    const bad = await p.register()
    const code = await p.brought('s1', ANN)
    return {
      oneUse: true,
      send: () => p.post('/login/oidc', { code }),
      done: [401],
      check: async () =>
        wrong(
          await opensNext(p, ANN),
          ['the password ended', p.opens(ANN).then((is) => !is)],
          ['the session ended', (await p.things(bad.token)) === 401],
        ),
    }
  }),
  scenario('oidc again', async (p) => {
    await p.post('/login/oidc', { code: await p.brought('s1', ANN) })
    const code = await p.brought('s1', ANN)
    return {
      oneUse: true,
      send: () => p.post('/login/oidc', { code }),
      done: [401],
      check: async () => wrong(await opensNext(p, ANN)),
    }
  }),
]

import { describe, expect, it } from 'vitest'
import { password } from './accounts.ts'
import { service } from './service.ts'

describe('2.4 renamed fields', () => {
  it('carry a whole life: sign-up, sign-in, refresh, reset, roles', async () => {
    const fields = {
      email: 'mail',
      phone: 'mobile',
      password: 'secretHash',
      role: 'rank',
      passwordChangedAt: 'changed',
      otpHash: 'codeHash',
      otpPurpose: 'codeFor',
      otpExpiresAt: 'codeUntil',
      otpAttempts: 'codeTries',
      failedLoginAttempts: 'misses',
      lockedUntil: 'shutUntil',
      refreshTokens: 'sessions',
    } as const
    const app = await service({ auth: { fields } })
    const up = await app.post('/auth/register', {
      email: 'ANN@example.com',
      mobile: '+49 30 123',
      password,
    })
    expect(up.body.data.user).toMatchObject({
      mail: 'ann@example.com',
      mobile: '+4930123',
      rank: 'user',
    })
    expect(Object.keys(up.body.data.user).sort()).toEqual([
      '_id',
      'createdAt',
      'mail',
      'mobile',
      'rank',
      'updatedAt',
    ])
    expect((await app.post('/auth/register', {})).body.error).toBe('Provide one of: mail, mobile.')
    const { refreshToken } = up.body.data
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(200)
    expect(
      (await app.post('/auth/login', { mail: 'ann@example.com', password: 'wrong' })).status,
    ).toBe(401)
    const id = up.body.data.user._id
    expect(await app.stored(id)).toMatchObject({ misses: 1 })
    await app.post('/auth/password/forgot', { identifier: 'ann@example.com' })
    expect(app.sent[0]?.to).toBe('ann@example.com')
    const reset = {
      identifier: '+4930123',
      code: app.sent[0]?.code,
      newPassword: 'another password',
    }
    expect((await app.post('/auth/password/reset', reset)).status).toBe(200)
    const record = await app.stored(id)
    expect(record).toMatchObject({ misses: 0, sessions: [] })
    expect(record.changed).toBeInstanceOf(Date)
    expect(record).not.toHaveProperty('password')
    await app.users.update(id, { rank: 'admin' })
    const { token } = (
      await app.post('/auth/login', { email: 'ann@example.com', password: 'another password' })
    ).body.data
    await app.register('bob@example.com', { mobile: '+49 30 124' })
    // By the stored names, and by those that the client and the manual have.
    for (const query of [
      'rank=admin&mail=ANN@example.com',
      'role=admin',
      'email=ANN@example.com',
    ]) {
      const list = await app.call('GET', `/auth/users?${query}`, undefined, token)
      expect(list.body.data).toHaveLength(1)
      expect(list.headers.get('cache-control')).toBe('no-store')
    }
  })
})

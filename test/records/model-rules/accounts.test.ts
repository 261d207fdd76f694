import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createAuthRouter, defineModel, userFields } from '../../../src/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import { service } from '../service.ts'

const identifiers = ['email'] as const
const Member = defineModel('RuledMember', {
  fields: {
    ...userFields({ identifiers }),
    plan: z.enum(['free', 'paid', 'honorary']).default('free'),
    from: z.number().optional(),
    to: z.number().optional(),
  },
  unique: ['email'],
  transitions: { plan: { free: ['paid'] } },
  initial: { plan: ['free', 'paid'] },
  exclude: [{ equal: ['plan'], range: ['from', 'to'] }],
})

describe('the rules of a model of accounts', () => {
  it('hold for sign-ups and profiles', async () => {
    const { app, send } = service({ store: sqliteStore() })
    const own = ['plan', 'from', 'to'] as const
    const router = createAuthRouter({
      password: cheap,
      ...{ model: Member, identifiers, token: { secret } },
      ...{ registerFields: [...own], updateFields: [...own] },
    })
    app.mount('/auth', router.router)
    const register = (name: string, more: object) =>
      send('POST', '/auth/register', { json: { email: `${name}@example.com`, password, ...more } })
    expect(await register('ann', { plan: 'honorary' })).toMatchObject({
      status: 400,
      body: { fields: { plan: "Must be 'free' or 'paid' at first." } },
    })
    const ann = await register('ann', { from: 1, to: 5 })
    expect(ann.status).toBe(201)
    expect(await register('bob', { from: 4, to: 6 })).toMatchObject({
      status: 409,
      body: { error: 'Overlaps an existing entry.' },
    })
    const { token, user } = ann.record as { token: string; user: { _id: string } }
    const headers = { authorization: `Bearer ${token}` }
    const patch = (json: object) => send('PATCH', `/auth/users/${user._id}`, { json, headers })
    expect((await patch({ plan: 'paid' })).status).toBe(200)
    expect(await patch({ plan: 'free' })).toMatchObject({
      status: 409,
      body: { error: "'plan' cannot change from 'paid' to 'free'." },
    })
    expect((await register('bob', { from: 4, to: 6 })).status).toBe(201)
  })
})
